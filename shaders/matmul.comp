// out = alpha op(a) op(b) + beta out: every invocation keeps a block of kRows x kColumns outputs in registers, without
// shared memory. Loads past an edge are clamped to it, and their results are not stored.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params.h"
HEADSCOPE_KERNEL(MatmulParams, MATMUL_BINDINGS, MATMUL_CONSTANTS)
#include "grid.glsl"
#include "round.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 8u;
layout(constant_id = constant_columns) const uint kColumns = 8u;
layout(constant_id = constant_rounding) const uint kRounding = 0u;  // of the operands, as in round.glsl; 0: none
#include "operands.glsl"
#include "product_out.glsl"

void main() {
    uint blocks_m = (p.m + kRows - 1u) / kRows;
    uint blocks_n = (p.n + kColumns - 1u) / kColumns;
    // Neighbours share rows of a and go along n; whole workgroups belong to one product.
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

    uint a_at[kRows];
    uint b_at[kColumns];
    float sums[kRows][kColumns];
    [[unroll]] for (uint i = 0u; i < kRows; ++i) {
        a_at[i] = a_base + min(row + i, p.m - 1u) * p.a_row;
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = 0.0;
        }
    }
    [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
        b_at[j] = b_base + min(column + j, p.n - 1u) * p.b_column;
    }
    uint a_step = 0u;
    uint b_step = 0u;
    for (uint k = 0u; k < p.k; ++k) {
        float b_values[kColumns];
        [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
            b_values[j] = round_operand(kRounding, b_one(b_at[j] + b_step));
        }
        [[unroll]] for (uint i = 0u; i < kRows; ++i) {
            float value = round_operand(kRounding, a_one(a_at[i] + a_step));
            [[unroll]] for (uint j = 0u; j < kColumns; ++j) {
                sums[i][j] = fma(value, b_values[j], sums[i][j]);
            }
        }
        a_step += p.a_column;
        b_step += p.b_row;
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
