// The product of few rows with a weight in blocks (tensor/blocks.h), as in decoding: a workgroup has kColumns of the
// weight's rows, and its invocations are side by side along k, with 16 bytes of codes each: a block of 4 bits, or half a
// one of 8. A sum is that of their parts. The dispatcher ensures that there are at most kRows rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(BlockLinearParams, BLOCK_LINEAR_BINDINGS, BLOCK_LINEAR_CONSTANTS)
#include "codes.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
layout(constant_id = constant_rows) const uint kRows = 1u;
layout(constant_id = constant_columns) const uint kColumns = 4u;
layout(constant_id = constant_eight_bits) const bool kEightBits = false;
layout(constant_id = constant_factors) const bool kFactors = false;
HEADSCOPE_READ_FLOATS(binding_x, x)
HEADSCOPE_READ_WORDS(binding_codes, codes)
layout(set = 0, binding = binding_scales) readonly buffer Scales { uint scales[]; };
layout(set = 0, binding = binding_y) writeonly buffer Y { float y[]; };

// Four neighbours of a row of x, 0 past its end.
vec4 x_of(uint row, uint column) {
    uint last = p.k - 1u;
    uint count = column < p.k ? p.k - column : 0u;
    return x_at(p.offset[binding_x] + min(row, p.m - 1u) * p.x_row + min(column, last), count);
}

// Of what a part of a block has: both halves, or one of 8 bits as the first.
vec4 scales_of(uint block, uint half_block) {
    uint at = p.offset[binding_scales] + (kFactors ? 2u : 1u) * block;
    vec4 both = scales_and_least(scales[at], kFactors, kFactors ? scales[at + 1u] : 0u);
    return half_block == 1u ? both.yyww : both;
}

void main() {
    uint column = group_index() * kColumns;
    uint parts = kEightBits ? 2u : 1u;  // of a block
    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    for (uint part = lane(); part < p.blocks * parts; part += lanes()) {
        uint block = part / parts;
        uint half_block = part - block * parts;
        uint first = 32u * block + 16u * half_block;
        uvec4 words[kColumns];
        vec4 scale[kColumns];
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            uint row = min(column + j, p.n - 1u) * p.blocks;
            words[j] = codes_at(p.offset[binding_codes] + 4u * (row * parts + part), 4u);
            scale[j] = scales_of(row + block, half_block);
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            vec2 products[kColumns];  // of both halves
            vec4 low_total = vec4(0.0);
            vec4 high_total = vec4(0.0);
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                products[j] = vec2(0.0);
            }
            [[unroll]] for (uint word = 0u; word < 4u; ++word) {
                vec4 low = x_of(i, first + 4u * word);
                vec4 high = kEightBits ? vec4(0.0) : x_of(i, first + 16u + 4u * word);
                low_total += low;
                high_total += high;
                [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                    uint bits = words[j][word];
                    products[j].x += dot(low, kEightBits ? signed_bytes(bits) : low_halves(bits));
                    products[j].y += kEightBits ? 0.0 : dot(high, high_halves(bits));
                }
            }
            vec2 sum = vec2(sum_of_four(low_total), sum_of_four(high_total));
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                sums[i][j] += dot(scale[j].xy, products[j]) + dot(scale[j].zw, sum);
            }
        }
    }
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            float sum = group_sum(sums[i][j]);
            if (lane() == 0u && i < p.m && column + j < p.n) {
                y[p.offset[binding_y] + i * p.y_row + column + j] = p.alpha * sum;
            }
        }
    }
}
