// out = alpha op(a) op(b) + beta out in the tiles of cooperative_tiles.glsl: zeros are staged past the edges, and nothing is
// stored there. To be included after product_out.glsl; the types MatrixA, MatrixB and MatrixC with zero_matrix, load_a,
// load_b, multiply_add, store_results and put_matrix; pair_of(x, y), which rounds two numbers and packs them, subgroup(),
// subgroup_lane() and subgroup_barrier(), which its invocations' stores in shared memory are behind; and
// HEADSCOPE_UNROLL, unroll or not.
layout(set = 0, binding = binding_a) readonly buffer A { Word a[]; };
layout(set = 0, binding = binding_a) readonly buffer APacks { uvec4 a_packs[]; };
layout(set = 0, binding = binding_b) readonly buffer B { Word b[]; };
layout(set = 0, binding = binding_b) readonly buffer BPacks { uvec4 b_packs[]; };

// Elements as they are stored: two; of eight that lie together, two neighbours; and the same one of two eights.
uint couple(uint x, uint y) {
#ifdef HEADSCOPE_16_BITS
    return x | y << 16u;
#else
    return pair_of(uintBitsToFloat(x), uintBitsToFloat(y));
#endif
}

#ifdef HEADSCOPE_16_BITS
#define eight_as_pairs(packs, at) packs[at]
#define couple_across(packs, x_at, y_at, i)                                                   \
    ((i) % 2u == 0u ? (packs[x_at][(i) / 2u] & 0xffffu) | packs[y_at][(i) / 2u] << 16u        \
                    : packs[x_at][(i) / 2u] >> 16u | (packs[y_at][(i) / 2u] & 0xffff0000u))
#else
#define eight_as_pairs(packs, at)                                                                   \
    uvec4(couple(packs[at].x, packs[at].y), couple(packs[at].z, packs[at].w),                       \
          couple(packs[at + 1u].x, packs[at + 1u].y), couple(packs[at + 1u].z, packs[at + 1u].w))
#define couple_across(packs, x_at, y_at, i) couple(packs[x_at + (i) / 4u][(i) % 4u], packs[y_at + (i) / 4u][(i) % 4u])
#endif

void stage_pair(uint at, uint row, uint pair, uint bits) { staged[at + row * kStride + pair / 4u][pair % 4u] = bits; }

// What an invocation stages comes in pieces, of which neighbours have those that lie together: eight terms of a row, two
// terms of eight rows, or two terms of one. A piece is at `row` of the tile and at `pair` of the terms.
struct Piece {
    uint row;
    uint pair;
};

// A place of [kTile, kDepth / 8]
Piece piece_of_terms(uint index) { return Piece(index / (kDepth / 8u), 4u * (index % (kDepth / 8u))); }

// A place of [kTile / 8, kDepth / 2]. Four neighbours read 32 rows that lie together, and the next ones the next terms.
Piece piece_of_rows(uint index) {
    uint pair = index / 4u % (kDepth / 2u);
    return Piece(8u * (index % 4u + index / (2u * kDepth) * 4u), pair);
}

// Which of its eight rows each of four neighbours stages first, so that they do in different banks: their rows are eight
// apart, and eight strides are a multiple of the banks.
uint first_of_rows(uint index) { return 2u * (index % 4u); }

// A place of [kTile, kDepth / 2]
Piece piece_of_pair(uint index, bool along_k) {
    return along_k ? Piece(index / (kDepth / 2u), index % (kDepth / 2u)) : Piece(index % kTile, index / kTile);
}

// fetch: rows [first, first + kTile) and terms [k, k + kDepth) of an operand, `rows` and p.k of which there are, into
// the invocation's own keeping, as they are; stage: from there to shared memory, at `to`.
#define HEADSCOPE_OPERAND(name, along_k, packs)                                                              \
    uvec4 fetched_##name[kPacks];                                                                            \
    void fetch_##name(uint base, uint first, uint rows, uint row_step, uint k, uint k_step) {                \
        if (packs && along_k) {                                                                              \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kEights * (8u / kPack); ++i) {                        \
                Piece piece = piece_of_terms(lane() + i / (8u / kPack) * kLanes);                            \
                uint term = k + 2u * piece.pair + i % (8u / kPack) * kPack;                                  \
                bool inside = first + piece.row < rows && term < p.k;                                        \
                fetched_##name[i] = uvec4(0u);                                                               \
                if (inside) {                                                                                \
                    fetched_##name[i] = name##_packs[(base + (first + piece.row) * row_step + term) / kPack]; \
                }                                                                                            \
            }                                                                                                \
        } else if (packs) {                                                                                  \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kPacks; ++i) {                                        \
                uint index = lane() + i / (16u / kPack) * kLanes;                                            \
                Piece piece = piece_of_rows(index);                                                          \
                uint term = k + 2u * piece.pair + i / (8u / kPack) % 2u;                                     \
                uint row = first + piece.row + i % (8u / kPack) * kPack;                                     \
                fetched_##name[i] = uvec4(0u);                                                               \
                if (has_pair_of_eights(index) && row < rows && term < p.k) {                                 \
                    fetched_##name[i] = name##_packs[(base + row + term * k_step) / kPack];                  \
                }                                                                                            \
            }                                                                                                \
        } else {                                                                                             \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 4u * kEights; ++i) {                                  \
                Piece piece = piece_of_pair(lane() + i * kLanes, along_k);                                   \
                uint term = k + 2u * piece.pair;                                                             \
                uint at = base + (first + piece.row) * row_step + term * k_step;                             \
                bool inside = first + piece.row < rows;                                                      \
                uint x = inside && term < p.k ? widen_word(name[at]) : 0u;                                   \
                uint y = inside && term + 1u < p.k ? widen_word(name[at + k_step]) : 0u;                     \
                fetched_##name[i / 4u][i % 4u] = couple(x, y);                                               \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    void stage_##name(uint to) {                                                                             \
        if (packs && along_k) {                                                                              \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kEights; ++i) {                                       \
                Piece piece = piece_of_terms(lane() + i * kLanes);                                           \
                staged[to + piece.row * kStride + piece.pair / 4u] =                                         \
                    eight_as_pairs(fetched_##name, i * (8u / kPack));                                        \
            }                                                                                                \
        } else if (packs) {                                                                                  \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kOwnPairsOfEights; ++i) {                             \
                uint index = lane() + i * kLanes;                                                            \
                Piece piece = piece_of_rows(index);                                                          \
                uint skipped = first_of_rows(index);                                                         \
                uint pairs[8];                                                                               \
                [[unroll]] for (uint j = 0u; j < 8u; ++j) {                                                  \
                    pairs[j] = couple_across(fetched_##name, i * (16u / kPack), i * (16u / kPack) + 8u / kPack, j); \
                }                                                                                            \
                uint half_turned[8];                                                                         \
                [[unroll]] for (uint j = 0u; j < 8u; ++j) {                                                  \
                    half_turned[j] = (skipped & 4u) != 0u ? pairs[(j + 4u) % 8u] : pairs[j];                 \
                }                                                                                            \
                [[unroll]] for (uint j = 0u; j < 8u; ++j) {                                                  \
                    uint bits = (skipped & 2u) != 0u ? half_turned[(j + 2u) % 8u] : half_turned[j];          \
                    if (has_pair_of_eights(index)) {                                                         \
                        stage_pair(to, piece.row + (j + skipped) % 8u, piece.pair, bits);                    \
                    }                                                                                        \
                }                                                                                            \
            }                                                                                                \
        } else {                                                                                             \
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < 4u * kEights; ++i) {                                  \
                Piece piece = piece_of_pair(lane() + i * kLanes, along_k);                                   \
                stage_pair(to, piece.row, piece.pair, fetched_##name[i / 4u][i % 4u]);                       \
            }                                                                                                \
        }                                                                                                    \
    }
HEADSCOPE_OPERAND(a, kAAlongK, kAPacks)
HEADSCOPE_OPERAND(b, kBAlongK, kBPacks)

// Four neighbours of a row, as far as there are as many.
void store_neighbours(uint target, uint column, vec4 sums) {
    if (kOutFours) {
        vec4 added = vec4(bias_of(column), bias_of(column + 1u), bias_of(column + 2u), bias_of(column + 3u));
        store_four(target, sums, added);
        return;
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        if (column + i < p.n) {
            store(target + i, sums[i], bias_of(column + i));
        }
    }
}

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
    uint a_staged = 0u;
    if (kAhead) {
        fetch_a(a_base, first_row, p.m, p.a_row, 0u, p.a_column);
        fetch_b(b_base, first_column, p.n, p.b_column, 0u, p.b_row);
    }
    for (uint k = 0u; k < p.k; k += kDepth) {
        if (!kAhead) {
            fetch_a(a_base, first_row, p.m, p.a_row, k, p.a_column);
            fetch_b(b_base, first_column, p.n, p.b_column, k, p.b_row);
        }
        stage_a(a_staged);
        stage_b(a_staged + kStaged);
        barrier();
        if (kAhead) {  // past the last term there are zeros
            fetch_a(a_base, first_row, p.m, p.a_row, k + kDepth, p.a_column);
            fetch_b(b_base, first_column, p.n, p.b_column, k + kDepth, p.b_row);
        }
        [[HEADSCOPE_UNROLL]] for (uint step = 0u; step < kDepth; step += kK) {
            MatrixA a_parts[kRows];
            [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
                load_a(a_parts[i], a_staged + (own_row + i * kM) * kStride + step / 8u);
            }
            [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
                MatrixB b_part;
                load_b(b_part, a_staged + kStaged + (own_column + j * kN) * kStride + step / 8u);
                [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
                    multiply_add(a_parts[i], b_part, sums[i][j]);
                }
            }
        }
        if (kStages == 1u) {
            barrier();
        } else {
            a_staged = 2u * kStaged - a_staged;
        }
    }
    if (stores_floats() && kOutFours && kEpilogue == 0u && first_row + kTile <= p.m && first_column + kTile <= p.n) {
        [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
            [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
                uint row = first_row + own_row + i * kM;
                put_matrix(sums[i][j], out_base + row * p.out_row + first_column + own_column + j * kN);
            }
        }
        return;
    }
    // Which entries of a matrix an invocation has is the device's own business: they go through shared memory.
    barrier();
    uint results_base = subgroup() * kResult;
    [[HEADSCOPE_UNROLL]] for (uint i = 0u; i < kRows; ++i) {
        [[HEADSCOPE_UNROLL]] for (uint j = 0u; j < kColumns; ++j) {
            store_results(sums[i][j], results_base);
            subgroup_barrier();
            for (uint four = subgroup_lane(); four < kResult; four += kSubgroupSize) {
                uint row = first_row + own_row + i * kM + four / (kN / 4u);
                uint column = first_column + own_column + j * kN + 4u * (four % (kN / 4u));
                if (row < p.m && column < p.n) {
                    store_neighbours(out_base + row * p.out_row + column, column,
                                     uintBitsToFloat(staged[results_base + four]));
                }
            }
            subgroup_barrier();
        }
    }
}
