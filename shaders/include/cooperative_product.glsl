// out = alpha op(a) op(b) + beta out in the tiles of cooperative_tiles.glsl: zeros are staged past the edges, and nothing is
// stored there. To be included after the types MatrixA, MatrixB and MatrixC with zero_matrix, load_a, load_b,
// multiply_add and store_results; pair_of(x, y), which rounds, and pair_of_bits(two in F16), subgroup(),
// subgroup_lane() and subgroup_barrier(), which its invocations' stores in shared memory are behind; storage.glsl; and
// HEADSCOPE_UNROLL, unroll or not.
layout(set = 0, binding = binding_a) readonly buffer A { Word a[]; };
layout(set = 0, binding = binding_a) readonly buffer AVectors { WordFour a_vectors[]; };
layout(set = 0, binding = binding_b) readonly buffer B { Word b[]; };
layout(set = 0, binding = binding_b) readonly buffer BVectors { WordFour b_vectors[]; };
#include "product_out.glsl"

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

// What an invocation stages comes in pieces, of which neighbours have those that lie together: four terms of a row, two
// terms of four rows, or two terms of one. A piece is at `row` of the tile and at `pair` of the terms.
struct Piece {
    uint row;
    uint pair;
};

// A place of [kTile, kDepth / 4]
Piece piece_of_terms(uint index) { return Piece(index / (kDepth / 4u), 2u * (index % (kDepth / 4u))); }

// A place of [kTile / 4, kDepth / 2]. Four neighbours read 16 rows that lie together, and the next ones the next terms:
// what they stage lies in other banks.
Piece piece_of_rows(uint index) {
    uint pair = index / 4u % (kDepth / 2u);
    return Piece(4u * (index % 4u + index / (2u * kDepth) * 4u), pair);
}

// A place of [kTile, kDepth / 2]
Piece piece_of_pair(uint index, bool along_k) {
    return along_k ? Piece(index / (kDepth / 2u), index % (kDepth / 2u)) : Piece(index % kTile, index / kTile);
}

// fetch: rows [first, first + kTile) and terms [k, k + kDepth) of an operand, `rows` and p.k of which there are, into
// the invocation's own keeping; stage: from there to shared memory.
#define HEADSCOPE_OPERAND(name, along_k, fours)                                                              \
    Pair fetched_##name[kPairs];                                                                             \
    void fetch_##name(uint base, uint first, uint rows, uint row_step, uint k, uint k_step) {                \
        if (fours && along_k) {                                                                              \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs / 2u; ++i) {                                   \
                Piece piece = piece_of_terms(lane() + i * kLanes);                                           \
                uint term = k + 2u * piece.pair;                                                             \
                uvec4 four = uvec4(0u);                                                                      \
                if (first + piece.row < rows && term < p.k) {                                                \
                    four = name##_four_at(base + (first + piece.row) * row_step + term);                     \
                }                                                                                            \
                fetched_##name[2u * i] = couple(four.x, four.y);                                             \
                fetched_##name[2u * i + 1u] = couple(four.z, four.w);                                        \
            }                                                                                                \
        } else if (fours) {                                                                                  \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs / 4u; ++i) {                                   \
                Piece piece = piece_of_rows(lane() + i * kLanes);                                            \
                uint term = k + 2u * piece.pair;                                                             \
                uint at = base + first + piece.row + term * k_step;                                          \
                uvec4 four = uvec4(0u);                                                                      \
                uvec4 next = uvec4(0u);                                                                      \
                if (first + piece.row < rows && term < p.k) {                                                \
                    four = name##_four_at(at);                                                               \
                }                                                                                            \
                if (first + piece.row < rows && term + 1u < p.k) {                                           \
                    next = name##_four_at(at + k_step);                                                      \
                }                                                                                            \
                [[unroll]] for (uint j = 0u; j < 4u; ++j) {                                                  \
                    fetched_##name[4u * i + j] = couple(four[j], next[j]);                                   \
                }                                                                                            \
            }                                                                                                \
        } else {                                                                                             \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs; ++i) {                                        \
                Piece piece = piece_of_pair(lane() + i * kLanes, along_k);                                   \
                uint term = k + 2u * piece.pair;                                                             \
                uint at = base + (first + piece.row) * row_step + term * k_step;                             \
                bool inside = first + piece.row < rows;                                                      \
                fetched_##name[i] = couple(inside && term < p.k ? name##_at(at) : 0u,                        \
                                           inside && term + 1u < p.k ? name##_at(at + k_step) : 0u);         \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    void stage_##name() {                                                                                    \
        if (fours && along_k) {                                                                              \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs / 2u; ++i) {                                   \
                Piece piece = piece_of_terms(lane() + i * kLanes);                                           \
                staged_##name[piece.row * kStride + piece.pair] = fetched_##name[2u * i];                    \
                staged_##name[piece.row * kStride + piece.pair + 1u] = fetched_##name[2u * i + 1u];          \
            }                                                                                                \
        } else if (fours) {                                                                                  \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs / 4u; ++i) {                                   \
                Piece piece = piece_of_rows(lane() + i * kLanes);                                            \
                [[unroll]] for (uint j = 0u; j < 4u; ++j) {                                                  \
                    staged_##name[(piece.row + j) * kStride + piece.pair] = fetched_##name[4u * i + j];      \
                }                                                                                            \
            }                                                                                                \
        } else {                                                                                             \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPairs; ++i) {                                        \
                Piece piece = piece_of_pair(lane() + i * kLanes, along_k);                                   \
                staged_##name[piece.row * kStride + piece.pair] = fetched_##name[i];                         \
            }                                                                                                \
        }                                                                                                    \
    }
HEADSCOPE_OPERAND(a, kAAlongK, kAFours)
HEADSCOPE_OPERAND(b, kBAlongK, kBFours)

void main() {
    uint tiles_m = (p.m + kTile - 1u) / kTile;
    uint tiles_n = (p.n + kTile - 1u) / kTile;
    uint batch = group_index() / (tiles_m * tiles_n);
    uvec2 at = place_of_tile(group_index() - batch * tiles_m * tiles_n, tiles_m, tiles_n);
    uint first_row = at.x * kTile;
    uint first_column = at.y * kTile;
    uint outer = batch / p.batch_inner;
    uint inner = batch - outer * p.batch_inner;
    uint a_base = p.offset[binding_a] + outer * p.a_batch[0] + inner * p.a_batch[1];
    uint b_base = p.offset[binding_b] + outer * p.b_batch[0] + inner * p.b_batch[1];
    uint out_base = p.offset[binding_out] + outer * p.out_batch[0] + inner * p.out_batch[1];
    uint own_row = subgroup() / kAcross * kOwnRows;
    uint own_column = subgroup() % kAcross * kOwnColumns;

    MatrixC sums[kRows][kColumns];
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
        [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
            sums[i][j] = zero_matrix();
        }
    }
    if (kAhead) {
        fetch_a(a_base, first_row, p.m, p.a_row, 0u, p.a_column);
        fetch_b(b_base, first_column, p.n, p.b_column, 0u, p.b_row);
    }
    for (uint k = 0u; k < p.k; k += kDepth) {
        if (!kAhead) {
            fetch_a(a_base, first_row, p.m, p.a_row, k, p.a_column);
            fetch_b(b_base, first_column, p.n, p.b_column, k, p.b_row);
        }
        stage_a();
        stage_b();
        barrier();
        if (kAhead) {  // past the last term there are zeros
            fetch_a(a_base, first_row, p.m, p.a_row, k + kDepth, p.a_column);
            fetch_b(b_base, first_column, p.n, p.b_column, k + kDepth, p.b_row);
        }
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
            subgroup_barrier();
            for (uint entry = subgroup_lane(); entry < kM * kN; entry += kSubgroupSize) {
                uint row = first_row + own_row + i * kM + entry / kN;
                uint column = first_column + own_column + j * kN + entry % kN;
                if (row < p.m && column < p.n) {
                    store(out_base + row * p.out_row + column, results[results_base + entry], bias_of(column));
                }
            }
            subgroup_barrier();
        }
    }
}
