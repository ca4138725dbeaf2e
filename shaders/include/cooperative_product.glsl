// out = alpha op(a) op(b) + beta out in the tiles of cooperative_tiles.glsl: zeros are staged past the edges, and nothing is
// stored there. To be included after the types MatrixA, MatrixB and MatrixC with zero_matrix, load_a, load_b,
// multiply_add and store_results; pair_of(x, y), subgroup() and subgroup_lane(); and HEADSCOPE_UNROLL, unroll or not.
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
#include "product_out.glsl"

float a_at(uint at, bool inside) { return inside ? a[at] : 0.0; }
float b_at(uint at, bool inside) { return inside ? b[at] : 0.0; }

// Rows [first, first + kTile) and terms [k, k + kDepth) of an operand, `rows` and p.k of which there are. Neighbouring
// invocations read what lies together: along the terms, or along the rows.
#define HEADSCOPE_STAGE(staged, value_at, base, first, rows, row_step, k, k_step)                              \
    for (uint index = lane(); index < kTile * kDepth / 2u; index += lanes()) {                                 \
        bool along_k = k_step == 1u;                                                                           \
        uint row = along_k ? index / (kDepth / 2u) : index % kTile;                                            \
        uint pair = along_k ? index % (kDepth / 2u) : index / kTile;                                           \
        uint term = k + 2u * pair;                                                                             \
        bool inside = first + row < rows;                                                                      \
        uint at = base + (first + row) * row_step + term * k_step;                                             \
        staged[row * kStride + pair] =                                                                         \
            pair_of(value_at(at, inside && term < p.k), value_at(at + k_step, inside && term + 1u < p.k));     \
    }

void main() {
    uint tiles_n = (p.n + kTile - 1u) / kTile;
    uint tiles = (p.m + kTile - 1u) / kTile * tiles_n;
    uint batch = group_index() / tiles;
    uint tile = group_index() - batch * tiles;
    uint first_row = tile / tiles_n * kTile;
    uint first_column = tile % tiles_n * kTile;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[0] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[1] + outer * p.b_batch[0] + inner * p.b_batch[1];
    uint out_base = p.offset[2] + outer * p.out_batch[0] + inner * p.out_batch[1];
    uint own_row = subgroup() / 2u * kQuarter;
    uint own_column = subgroup() % 2u * kQuarter;

    MatrixC sums[kRows][kColumns];
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
        [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = zero_matrix();
        }
    }
    for (uint k = 0u; k < p.k; k += kDepth) {
        HEADSCOPE_STAGE(staged_a, a_at, a_base, first_row, p.m, p.a_row, k, p.a_column)
        HEADSCOPE_STAGE(staged_b, b_at, b_base, first_column, p.n, p.b_column, k, p.b_row)
        barrier();
        [[HEADSCOPE_UNROLL]] for (uint step = 0u; step < kDepth; step += kK) {
            MatrixA a_parts[kRows];
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
                load_a(a_parts[i], (own_row + i * kM) * kStride + step / 2u);
            }
            [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
                MatrixB b_part;
                load_b(b_part, (own_column + j * kN) * kStride + step / 2u);
                [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
                    multiply_add(a_parts[i], b_part, sums[i][j]);
                }
            }
        }
        barrier();
    }
    // Which entries of a matrix an invocation has is the device's own business: they go through shared memory.
    uint results_base = subgroup() * kM * kN;
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
        [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
            store_results(sums[i][j], results_base);
            barrier();
            for (uint entry = subgroup_lane(); entry < kM * kN; entry += kSubgroupSize) {
                uint row = first_row + own_row + i * kM + entry / kN;
                uint column = first_column + own_column + j * kN + entry % kN;
                if (row < p.m && column < p.n) {
                    store(out_base + row * p.out_row + column, results[results_base + entry], bias_of(column));
                }
            }
            barrier();
        }
    }
}
