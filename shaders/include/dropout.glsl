// DropoutRule of src/backend/ops/common.h, eight columns at a time.
#ifndef HEADSCOPE_DROPOUT_GLSL
#define HEADSCOPE_DROPOUT_GLSL

#include "params.h"
#include "philox.glsl"

// Common to one row's elements.
struct DropoutRow {
    uint place;  // (head << 16) | position
    uint ordinal;
    uint step;
};

// Random bits for the columns [8 * block, 8 * block + 8).
uvec4 dropout_words(DropoutParams rule, DropoutRow row, uint block) {
    return philox(uvec4(block, row.place, row.ordinal, rule.site), uvec2(rule.seed, row.step));
}

// The words of the column's vec4.
uvec2 dropout_pairs(uvec4 words, uint column) { return (column & 4u) == 0u ? words.xy : words.zw; }

// `x` scaled, or exactly 0 (whatever x is).
float dropout_apply(DropoutParams rule, uvec4 words, uint column, float x) {
    uvec2 pairs = dropout_pairs(words, column);
    uint word = (column & 2u) == 0u ? pairs.x : pairs.y;
    uint bits = (word >> ((column % 2u) * 16u)) & 0xffffu;
    return bits >= rule.threshold ? x * rule.scale : 0.0;
}

// The same for the columns [column, column + 4), of which the first is a multiple of 4.
vec4 dropout_apply(DropoutParams rule, uvec4 words, uint column, vec4 x) {
    uvec2 pairs = dropout_pairs(words, column);
    uvec4 bits = uvec4(pairs.x & 0xffffu, pairs.x >> 16u, pairs.y & 0xffffu, pairs.y >> 16u);
    return mix(vec4(0.0), x * rule.scale, greaterThanEqual(bits, uvec4(rule.threshold)));
}

#endif
