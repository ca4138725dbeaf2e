// Codes of weights in blocks, as tensor/blocks.h lays them out: those of one word.
#ifndef HEADSCOPE_CODES_GLSL
#define HEADSCOPE_CODES_GLSL

#include "round.glsl"

vec4 signed_bytes(uint bits) {
    int word = int(bits);
    return vec4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8), bitfieldExtract(word, 16, 8),
                bitfieldExtract(word, 24, 8));
}

vec4 low_halves(uint bits) { return vec4(uvec4(bits, bits >> 8u, bits >> 16u, bits >> 24u) & 15u); }
vec4 high_halves(uint bits) { return low_halves(bits >> 4u); }

// The scales of both halves of a block, then their least values. `factors`: the block's second word, if it has one.
vec4 scales_and_least(uint bits, bool has_factors, uint factors) {
    vec4 both = from_two_f16(bits).xxyy;
    return has_factors ? both * signed_bytes(factors) : both;
}

#endif
