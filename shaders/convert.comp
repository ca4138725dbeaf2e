// out = x or out += x between F32, F16 and BF16, rounding to nearest even by bits; each invocation has four elements of
// a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(CopyParams, COPY_BINDINGS, CONVERT_CONSTANTS)
#define HEADSCOPE_16_BITS  // 16-bit words; their type depends on the tensor
#include "fours.glsl"
#include "grid.glsl"
#include "strided.glsl"
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
layout(constant_id = constant_x_type) const uint kXType = 0u;
layout(constant_id = constant_out_type) const uint kOutType = 0u;
HEADSCOPE_READ_FLOATS(binding_x, x)
HEADSCOPE_READ_WORDS(binding_x, x_words)
HEADSCOPE_WRITE_FLOATS(binding_out, to)
HEADSCOPE_WRITE_WORDS(binding_out, to_words)

const uint kTypeF16 = 0u;  // BF16 is 1
const uint kTypeF32 = 2u;

vec4 widened(uint type, uvec4 bits) {
    return type == kTypeF16 ? vec4(from_f16(bits.x), from_f16(bits.y), from_f16(bits.z), from_f16(bits.w))
                            : uintBitsToFloat(bits << 16u);
}

uvec4 narrowed(uint type, vec4 value) {
    return type == kTypeF16 ? uvec4(to_f16(value.x), to_f16(value.y), to_f16(value.z), to_f16(value.w))
                            : uvec4(to_bf16(value.x), to_bf16(value.y), to_bf16(value.z), to_bf16(value.w));
}

vec4 read(uint index, uint count) {
    if (kXType == kTypeF32) {
        return x_at(index, count);
    }
    return widened(kXType, x_words_at(index, count));
}

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint count = p.shape[3] - at.w;
    vec4 value = read(p.offset[binding_x] + place(at, p.x_strides), count);
    uint target = p.offset[binding_out] + place(at, p.out_strides);
    if (kOutType == kTypeF32) {
        to_put(target, count, kAccumulates ? to_at(target, count) + value : value);
    } else {
        vec4 sum = kAccumulates ? widened(kOutType, to_words_at(target, count)) + value : value;
        to_words_put(target, count, narrowed(kOutType, sum));
    }
}
