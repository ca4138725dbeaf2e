#ifndef HEADSCOPE_ROUND_GLSL
#define HEADSCOPE_ROUND_GLSL

layout(constant_id = constant_converts_halves) const bool kConvertsHalves = false;  // F16 by the device's conversion

// The twin of to_bf16 in src/tensor/dtype.cpp: to nearest, ties to even; NaN stays NaN.
uint to_bf16(float value) {
    uint bits = floatBitsToUint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (bits >> 16u) | 0x40u;
    }
    return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}

float from_bf16(uint bits) { return uintBitsToFloat(bits << 16u); }

// The twins of to_f16 and from_f16.
uint to_f16(float value) {
    uint bits = floatBitsToUint(value);
    uint sign = (bits >> 16u) & 0x8000u;
    uint magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return sign | 0x7e00u;
    }
    if (magnitude >= 0x47800000u) {
        return sign | 0x7c00u;
    }
    if (magnitude < 0x38800000u) {
        // Adding 2^23 leaves the integer part in the mantissa, rounded to even by the addition itself.
        precise float rounded = uintBitsToFloat(magnitude) * 16777216.0 + 8388608.0;
        return sign | (floatBitsToUint(rounded) & 0x7fffffu);
    }
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
}

// Without branches, which a CPU's Vulkan takes both ways, and without a subnormal number, which a device may take for 0;
// or by the device's own conversion, where it was seen to keep those.
float from_f16(uint bits) {
    if (kConvertsHalves) {
        return unpackHalf2x16(bits).x;
    }
    uint magnitude = (bits & 0x7fffu) << 13u;  // as in F32, but for the exponent's bias
    precise float subnormal = uintBitsToFloat(magnitude + 0x38800000u) - 6.103515625e-5;
    uint other = magnitude + (magnitude < 0x0f800000u ? 0x38000000u : 0x70000000u);  // a number, or infinity and NaN
    uint value = magnitude < 0x00800000u ? floatBitsToUint(subnormal) : other;
    return uintBitsToFloat((bits & 0x8000u) << 16u | value);
}

const uint kRoundToBf16 = 1u;
const uint kRoundToF16 = 2u;

// Two that lie in a word, the first in its low bits.
vec2 from_two_f16(uint bits) {
    return kConvertsHalves ? unpackHalf2x16(bits) : vec2(from_f16(bits), from_f16(bits >> 16u));
}

// A product's operand in the type it is computed in.
float round_operand(uint rounding, float value) {
    if (rounding == kRoundToBf16) {
        return from_bf16(to_bf16(value));
    }
    return rounding == kRoundToF16 ? from_f16(to_f16(value)) : value;
}

vec4 round_operand(uint rounding, vec4 value) {
    return vec4(round_operand(rounding, value.x), round_operand(rounding, value.y), round_operand(rounding, value.z),
                round_operand(rounding, value.w));
}

#endif
