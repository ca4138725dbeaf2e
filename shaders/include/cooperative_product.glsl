// out = alpha op(a) op(b) + beta out in the tiles of cooperative_tiles.glsl: zeros are staged past the edges, and nothing is
// stored there. To be included after the types MatrixA, MatrixB and MatrixC with zero_matrix, load_a, load_b,
// multiply_add and store_results; pair_of(x, y), which rounds, and pair_of_bits(two in F16), subgroup() and
// subgroup_lane(); storage.glsl; and HEADSCOPE_UNROLL, unroll or not.
layout(constant_id = 6) const uint kLies = 0u;  // kAAlongK, kBAlongK, kAFours, kBFours
layout(set = 0, binding = 0) readonly buffer A { Word a[]; };
layout(set = 0, binding = 0) readonly buffer AVectors { WordFour a_vectors[]; };
layout(set = 0, binding = 1) readonly buffer B { Word b[]; };
layout(set = 0, binding = 1) readonly buffer BVectors { WordFour b_vectors[]; };
#include "product_out.glsl"

// Which way an operand's elements lie together, and whether its rows that way begin at multiples of four and have a
// multiple of four elements.
const bool kAAlongK = (kLies & 1u) != 0u;
const bool kBAlongK = (kLies & 2u) != 0u;
const bool kAFours = (kLies & 4u) != 0u;
const bool kBFours = (kLies & 8u) != 0u;

uint a_at(uint at) { return widen_word(a[at]); }
uint b_at(uint at) { return widen_word(b[at]); }
uvec4 a_four_at(uint at) { return widen_words(a_vectors[at / 4u]); }
uvec4 b_four_at(uint at) { return widen_words(b_vectors[at / 4u]); }

// Two elements as they are stored, F16 or F32.
Pair couple(uint x, uint y) {
#ifdef HEADSCOPE_16_BITS
    return pair_of_bits(x | y << 16u);
#else
    return pair_of(uintBitsToFloat(x), uintBitsToFloat(y));
#endif
}

// Rows [first, first + kTile) and terms [k, k + kDepth) of an operand, `rows` and p.k of which there are. Neighbouring
// invocations read what lies together: along the terms, or along the rows.
#define HEADSCOPE_STAGE(name, along_k, fours)                                                            \
    void stage_##name(uint base, uint first, uint rows, uint row_step, uint k, uint k_step) {            \
        if (fours && along_k) {                                                                          \
            for (uint index = lane(); index < kTile * kDepth / 4u; index += lanes()) {                   \
                uint row = index / (kDepth / 4u);                                                        \
                uint pair = 2u * (index % (kDepth / 4u));                                                \
                uint term = k + 2u * pair;                                                               \
                uvec4 four = uvec4(0u);                                                                  \
                if (first + row < rows && term < p.k) {                                                  \
                    four = name##_four_at(base + (first + row) * row_step + term);                       \
                }                                                                                        \
                staged_##name[row * kStride + pair] = couple(four.x, four.y);                            \
                staged_##name[row * kStride + pair + 1u] = couple(four.z, four.w);                       \
            }                                                                                            \
        } else if (fours) {                                                                              \
            for (uint index = lane(); index < kTile * kDepth / 8u; index += lanes()) {                   \
                uint row = 4u * (index % (kTile / 4u));                                                  \
                uint pair = index / (kTile / 4u);                                                        \
                uint term = k + 2u * pair;                                                               \
                uint at = base + first + row + term * k_step;                                            \
                uvec4 four = uvec4(0u);                                                                  \
                uvec4 next = uvec4(0u);                                                                  \
                if (first + row < rows && term < p.k) {                                                  \
                    four = name##_four_at(at);                                                           \
                }                                                                                        \
                if (first + row < rows && term + 1u < p.k) {                                             \
                    next = name##_four_at(at + k_step);                                                  \
                }                                                                                        \
                [[unroll]] for (uint i = 0u; i < 4u; ++i) {                                              \
                    staged_##name[(row + i) * kStride + pair] = couple(four[i], next[i]);                \
                }                                                                                        \
            }                                                                                            \
        } else {                                                                                         \
            for (uint index = lane(); index < kTile * kDepth / 2u; index += lanes()) {                   \
                uint row = along_k ? index / (kDepth / 2u) : index % kTile;                              \
                uint pair = along_k ? index % (kDepth / 2u) : index / kTile;                             \
                uint term = k + 2u * pair;                                                               \
                uint at = base + (first + row) * row_step + term * k_step;                               \
                bool inside = first + row < rows;                                                        \
                staged_##name[row * kStride + pair] =                                                    \
                    couple(inside && term < p.k ? name##_at(at) : 0u,                                    \
                           inside && term + 1u < p.k ? name##_at(at + k_step) : 0u);                     \
            }                                                                                            \
        }                                                                                                \
    }
HEADSCOPE_STAGE(a, kAAlongK, kAFours)
HEADSCOPE_STAGE(b, kBAlongK, kBFours)

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
        stage_a(a_base, first_row, p.m, p.a_row, k, p.a_column);
        stage_b(b_base, first_column, p.n, p.b_column, k, p.b_row);
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
