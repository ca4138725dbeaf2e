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
        uint first = 32u * block + 16u * (part - block * parts);
        uvec4 words[kColumns];
        vec2 scale[kColumns];
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            uint row = min(column + j, p.n - 1u) * p.blocks;
            words[j] = codes_at(p.offset[binding_codes] + 4u * (row * parts + part), 4u);
            scale[j] = scale_and_least(scales[p.offset[binding_scales] + row + block]);
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            float products[kColumns];
            vec4 total = vec4(0.0);
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                products[j] = 0.0;
            }
            [[unroll]] for (uint word = 0u; word < 4u; ++word) {
                vec4 low = x_of(i, first + 4u * word);
                vec4 high = kEightBits ? vec4(0.0) : x_of(i, first + 16u + 4u * word);
                total += low + high;
                [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                    uint bits = words[j][word];
                    products[j] += kEightBits ? dot(low, signed_bytes(bits))
                                              : dot(low, low_halves(bits)) + dot(high, high_halves(bits));
                }
            }
            float sum = sum_of_four(total);
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                sums[i][j] = fma(scale[j].x, products[j], fma(scale[j].y, sum, sums[i][j]));
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
