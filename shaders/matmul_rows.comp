// The product of few rows with a weight, both along k, as in decoding: a workgroup has kColumns of the weight's rows,
// and its invocations are side by side along k, so that memory is read in order. A sum is that of their parts. The
// dispatcher ensures that k and every offset and stride are multiples of 4, and that m is at most kRows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_CONSTANTS)
#include "grid.glsl"
#include "operands.glsl"
#include "product_out.glsl"
#include "reduce.glsl"
#include "round.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 1u;
layout(constant_id = constant_columns) const uint kColumns = 4u;
layout(constant_id = constant_rounding) const uint kRounding = 0u;

float product_of_fours(vec4 x, vec4 y, float sum) {
    return fma(x.x, y.x, fma(x.y, y.y, fma(x.z, y.z, fma(x.w, y.w, sum))));
}

void main() {
    uint groups = (p.n + kColumns - 1u) / kColumns;
    uint batch = group_index() / groups;
    uint column = (group_index() - batch * groups) * kColumns;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[binding_a] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[binding_b] + outer * p.b_batch[0] + inner * p.b_batch[1];

    // Where each row starts, in vec4s.
    uint a_at[kRows];
    uint b_at[kColumns];
    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        a_at[i] = (a_base + min(i, p.m - 1u) * p.a_row) / 4u;
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        b_at[j] = (b_base + min(column + j, p.n - 1u) * p.b_column) / 4u;
    }
    for (uint k = lane(); k < p.k / 4u; k += lanes()) {
        vec4 a_values[kRows];
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            a_values[i] = round_operand(kRounding, a_four(a_at[i] + k));
        }
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            vec4 b_value = round_operand(kRounding, b_four(b_at[j] + k));
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                sums[i][j] = product_of_fours(a_values[i], b_value, sums[i][j]);
            }
        }
    }
    uint out_base = p.offset[binding_out] + outer * p.out_batch[0] + inner * p.out_batch[1];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            float sum = group_sum(sums[i][j]);
            if (lane() == 0u && i < p.m && column + j < p.n) {
                store(out_base + i * p.out_row + column + j, sum, bias_of(column + j));
            }
        }
    }
}
