// What an op's tensors of its own type are stored in: F32, or 16 bits in the modules that are made with
// HEADSCOPE_16_BITS, where a constant says which. A value is widened when it is loaded, and rounded to nearest even when
// it is stored, by bits: what a device rounds of itself is its own business. To be included by the shader itself: that is
// what makes the build compile it both ways.
#ifndef HEADSCOPE_STORAGE_GLSL
#define HEADSCOPE_STORAGE_GLSL

#ifdef HEADSCOPE_16_BITS

#extension GL_EXT_shader_16bit_storage : require
#include "round.glsl"

layout(constant_id = constant_bf16) const bool kBf16 = false;  // else F16

#define Stored uint16_t
#define StoredFour uvec2

float from_16(uint bits) { return kBf16 ? from_bf16(bits) : from_f16(bits); }
uint to_16(float value) { return kBf16 ? to_bf16(value) : to_f16(value); }

// Such types are for buffers alone, not for parameters.
#define widen_one(one) from_16(uint(one))
#define narrow_one(value) uint16_t(to_16(value))

vec4 widen_four(uvec2 four) {
    return kBf16 ? uintBitsToFloat(uvec4(four.x << 16u, four.x & 0xffff0000u, four.y << 16u, four.y & 0xffff0000u))
                 : vec4(from_two_f16(four.x), from_two_f16(four.y));
}

uvec2 narrow_four(vec4 value) {
    return uvec2(to_16(value.x) | to_16(value.y) << 16u, to_16(value.z) | to_16(value.w) << 16u);
}

// Bits as they are.
#define Word uint16_t
#define WordFour uvec2
#define widen_word(word) uint(word)
#define narrow_word(bits) uint16_t(bits)
uvec4 widen_words(uvec2 four) { return uvec4(four.x & 0xffffu, four.x >> 16u, four.y & 0xffffu, four.y >> 16u); }
uvec2 narrow_words(uvec4 bits) { return uvec2(bits.x | bits.y << 16u, bits.z | bits.w << 16u); }

#else

#define Stored float
#define StoredFour vec4
#define widen_one(one) one
#define narrow_one(value) value
#define widen_four(four) four
#define narrow_four(value) value
#define Word uint
#define WordFour uvec4
#define widen_word(word) word
#define narrow_word(bits) bits
#define widen_words(four) four
#define narrow_words(bits) bits

#endif

#endif
