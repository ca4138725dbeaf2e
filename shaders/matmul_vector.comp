// The product of matmul.comp, in the same order of sums, with vec4 loads along k or along the outputs, whichever way an
// operand is contiguous. Loads cost most, on a GPU's memory and on a CPU's lanes alike. The dispatcher ensures that k,
// and m or n where loads go along them, and every offset and stride are multiples of 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_VECTOR_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 8u;
layout(constant_id = constant_columns) const uint kColumns = 8u;
layout(constant_id = constant_rounding) const uint kRounding = 0u;
layout(constant_id = constant_a_along_k) const bool kAAlongK = true;
layout(constant_id = constant_b_along_k) const bool kBAlongK = true;
#include "operands.glsl"
#include "product_out.glsl"

void main() {
    uint blocks_m = (p.m + kRows - 1u) / kRows;
    uint blocks_n = (p.n + kColumns - 1u) / kColumns;
    uint groups = (blocks_m * blocks_n + lanes() - 1u) / lanes();
    uint batch = group_index() / groups;
    uint block = (group_index() - batch * groups) * lanes() + lane();
    if (block >= blocks_m * blocks_n) {
        return;
    }
    uint block_m = block / blocks_n;
    uint row = block_m * kRows;
    uint column = (block - block_m * blocks_n) * kColumns;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[binding_a] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[binding_b] + outer * p.b_batch[0] + inner * p.b_batch[1];

    // Where each vector of a block starts, in vec4s, at k = 0: one for each row, or one for four rows.
    uint a_at[kRows];
    uint b_at[kColumns];
    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        a_at[i] = (a_base + (kAAlongK ? min(row + i, p.m - 1u) * p.a_row : min(row + 4u * i, p.m - 4u))) / 4u;
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        b_at[j] = (b_base + (kBAlongK ? min(column + j, p.n - 1u) * p.b_column : min(column + 4u * j, p.n - 4u))) / 4u;
    }
    uint a_step = kAAlongK ? 1u : p.a_column;  // vec4s for each four of k
    uint b_step = kBAlongK ? 1u : p.b_row;
    for (uint k = 0u; k < p.k / 4u; ++k) {
        vec4 a_values[kRows];     // along k: [row], else [4 * (row / 4) + k]
        vec4 b_values[kColumns];  // along k: [column], else [4 * (column / 4) + k]
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            uint at = kAAlongK ? a_at[i] + k : a_at[i / 4u] + k * a_step + (i % 4u) * (p.a_column / 4u);
            a_values[i] = round_operand(kRounding, a_four(at));
        }
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            uint at = kBAlongK ? b_at[j] + k : b_at[j / 4u] + k * b_step + (j % 4u) * (p.b_row / 4u);
            b_values[j] = round_operand(kRounding, b_four(at));
        }
        [[unroll]] for (uint d = 0u; d < 4u; ++d) {
            [[unroll]] for (uint i = 0u; i < kRows; ++i) {
                float value = kAAlongK ? a_values[i][d] : a_values[4u * (i / 4u) + d][i % 4u];
                [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                    float other = kBAlongK ? b_values[j][d] : b_values[4u * (j / 4u) + d][j % 4u];
                    sums[i][j] = fma(value, other, sums[i][j]);
                }
            }
        }
    }
    uint out_base = p.offset[binding_out] + outer * p.out_batch[0] + inner * p.out_batch[1];
    float added[kColumns];
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        added[j] = bias_of(column + j);
    }
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            if (row + i < p.m && column + j < p.n) {
                store(out_base + (row + i) * p.out_row + column + j, sums[i][j], added[j]);
            }
        }
    }
}
