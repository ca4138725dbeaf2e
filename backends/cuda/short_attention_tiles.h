// What forward and backward of short attention share: the scores of a warp's 16 queries in registers, their softmax and
// dropout. A row of them lies in a quad, four neighbouring lanes.
#pragma once

#include "backends/cuda/fragments.h"
#include "backends/cuda/short_attention.h"

namespace headscope::cuda {

constexpr int kShortThreads = static_cast<int>(kLongestShort) / kTileRows * kWarp;
// How many of the largest blocks a multiprocessor has registers for: with two of them a thread has 128.
template <class T, int D, int Tiles>
constexpr int kShortBlocks = int{sizeof(T)} * D <= 128 && Tiles <= 8 ? 2 : 1;

// Of 16 queries, in tiles of eight keys.
template <int Tiles>
struct ShortScores {
    float at[Tiles][4] = {};
};

// Of the two rows of a lane.
struct ShortRows {
    Keys allowed[2];
    int pairs = 0;  // tiles of 16 keys that one of the warp's queries may see: the first of all
};

// The key of element i of a tile, and its row of the lane's two.
__device__ inline int key_in_tile(int tile, int i) {
    return 8 * tile + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
}
__device__ inline int short_query(int first, int half) {
    return first + static_cast<int>(threadIdx.x) % kWarp / 4 + 8 * half;
}

// The queries from `first` on.
__device__ inline ShortRows short_rows(const SentenceMask& mask, int queries, int first) {
    ShortRows rows;
    if (first < queries) {
        rows.pairs = row_tiles(mask.keys_between(first, lesser(first + kTileRows, queries) - 1).end);
    }
    for (int half = 0; half < 2; ++half) {
        const int query = short_query(first, half);
        rows.allowed[half] = query < queries ? mask.keys_of(query) : Keys{};
    }
    return rows;
}

// Zeros in the keys and values that no query may see, between those that some see. Ranges and windows leave such gaps.
template <int D, class T>
__device__ inline void clear_hidden(const SentenceMask& mask, int limit, const SharedTile<T>& keys,
                                    const SharedTile<T>& values) {
    if (mask.ranges == nullptr && mask.window == 0) {
        return;
    }
    const float zeros[kVector<T>] = {};
    for (int key = static_cast<int>(threadIdx.x); key < limit; key += static_cast<int>(blockDim.x)) {
        if (mask.shows(key)) {
            continue;
        }
        for (int column = 0; column < D; column += kVector<T>) {
            store<kVector<T>>(zeros, keys.at(key, column));
            store<kVector<T>>(zeros, values.at(key, column));
        }
    }
    __syncthreads();
}

// body(tile) for the tiles of eight keys that the warp's queries may see.
template <int Tiles, class Body>
__device__ __forceinline__ void for_tiles(int pairs, const Body& body) {
    unrolled<Tiles / 2>([&](int pair) {
        if (pair < pairs) {
            body(2 * pair);
            body(2 * pair + 1);
        }
    });
}

// The products of rows from `first` of `a` with the rows of `b`.
template <int D, int Tiles, class T>
__device__ inline void add_scores(const SharedTile<T>& a, int first, const SharedTile<T>& b, int pairs,
                                  ShortScores<Tiles>& scores) {
    for (int k = 0; k < D; k += kProductDepth<T>) {
        const Fragment left = left_fragment(a, first, k);
        unrolled<Tiles / 2>([&](int pair) {
            if (pair < pairs) {
                multiply_add_both<T>(scores.at[2 * pair], scores.at[2 * pair + 1], left,
                                     right_fragments(b, k, 16 * pair));
            }
        });
    }
}

// Combines over the four lanes of a row.
template <class Combine>
__device__ inline float reduce_quad(float value, Combine combine) {
    value = combine(value, __shfl_xor_sync(kWholeWarp, value, 1));
    return combine(value, __shfl_xor_sync(kWholeWarp, value, 2));
}

constexpr float kLog2E = 1.4426950408889634F;

// Scores become weights, exactly 0 at forbidden keys. log_sums: of the lane's rows, with their scale.
template <int Tiles>
__device__ inline void short_softmax(const ShortRows& rows, float scale, ShortScores<Tiles>& scores,
                                     float (&log_sums)[2]) {
    float largest[2] = {-INFINITY, -INFINITY};
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& score = scores.at[tile][i];
            score = rows.allowed[i / 2].has(key_in_tile(tile, i)) ? score * (scale * kLog2E) : -INFINITY;
            largest[i / 2] = fmaxf(largest[i / 2], score);  // a NaN shows in the sum
        });
    });
    float total[2] = {};
    for (int half = 0; half < 2; ++half) {
        largest[half] = reduce_quad(largest[half], [](float a, float b) { return fmaxf(a, b); });
        log_sums[half] = largest[half] == -INFINITY ? 0.0F : largest[half];
    }
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& score = scores.at[tile][i];
            score = exp2f(score - log_sums[i / 2]);
            total[i / 2] += score;
        });
    });
    float inverse[2];
    for (int half = 0; half < 2; ++half) {
        const bool none = rows.allowed[half].count() == 0;
        total[half] = reduce_quad(total[half], Sum{});
        inverse[half] = none ? 0.0F : 1.0F / total[half];
        log_sums[half] = none ? -INFINITY : (largest[half] + log2f(total[half])) / kLog2E;
    }
    for_tiles<Tiles>(rows.pairs, [&](int tile) { unrolled<4>([&](int i) { scores.at[tile][i] *= inverse[i / 2]; }); });
}

// Draws for all queries and keys of a block: each block of random numbers serves eight keys. Null without dropout.
__device__ inline const std::uint8_t* draw_kept(const AttentionKernel& kernel, const ShortLayout& layout,
                                                const TilePlace& place) {
    if (!kernel.dropout.on) {
        return nullptr;
    }
    std::uint8_t* kept = shared_bytes + layout.kept();
    const int groups = 2 * layout.key_tiles;
    for (int i = static_cast<int>(threadIdx.x); i < kernel.queries * groups; i += static_cast<int>(blockDim.x)) {
        kept[i / groups * ShortLayout::kKeptBytes + i % groups] =
            kept_of_eight(kernel.dropout, place.batch, place.head, i / groups, i % groups);
    }
    return kept;
}

// What dropout keeps of the two rows of a lane: all without `kept`.
template <int Tiles>
struct KeptRows {
    static constexpr int kWords = (Tiles + 3) / 4;
    std::uint32_t words[2][kWords];

    __device__ KeptRows(const std::uint8_t* kept, int first, int queries) {
        for (int half = 0; half < 2; ++half) {
            unrolled<kWords>([&](int word) { words[half][word] = ~0U; });
            if (kept != nullptr) {
                const int query = lesser(short_query(first, half), queries - 1);
                const auto* row = reinterpret_cast<const std::uint32_t*>(kept + query * ShortLayout::kKeptBytes);
                unrolled<kWords>([&](int word) { words[half][word] = row[word]; });
            }
        }
    }
    __device__ bool has(int tile, int i) const {
        return (words[i / 2][tile / 4] >> key_in_tile(tile % 4, i) & 1U) != 0;
    }
};

// Weights of one warp, as the left operands of their product with the values.
template <class T, int Tiles>
struct LeftWeights {
    LeftOfSums<T> at[Tiles / 2];  // of 16 keys each
};

template <class T, int Tiles>
__device__ inline LeftWeights<T, Tiles> left_weights(const ShortScores<Tiles>& weights) {
    LeftWeights<T, Tiles> left;
    unrolled<Tiles / 2>([&](int pair) { left.at[pair] = as_left<T>(weights.at[2 * pair], weights.at[2 * pair + 1]); });
    return left;
}

template <class T, int Tiles>
__device__ inline LeftWeights<T, Tiles> dropped_weights(const DropoutKernel& dropout, const KeptRows<Tiles>& keeps,
                                                        ShortScores<Tiles>& weights) {
    unrolled<Tiles>([&](int tile) {
        unrolled<4>(
            [&](int i) { weights.at[tile][i] = keeps.has(tile, i) ? weights.at[tile][i] * dropout.scale : 0.0F; });
    });
    return left_weights<T>(weights);
}

// sums += the weights of the first `pairs` times 16 keys times their values.
template <int D, int Tiles, class T>
__device__ inline void add_weighed(const LeftWeights<T, Tiles>& weights, int pairs, const SharedTile<T>& values,
                                   RowSums<D>& sums) {
    unrolled<Tiles / 2>([&](int pair) {
        if (pair < pairs) {
            unrolled<kProductSteps<T>>([&](int step) {
                unrolled<D / 16>([&](int i) {
                    multiply_add_both<T>(sums.at[2 * i], sums.at[2 * i + 1], weights.at[pair].at[step],
                                         right_fragments_by_rows(values, 16 * pair + kProductDepth<T> * step, 16 * i));
                });
            });
        }
    });
}

}  // namespace headscope::cuda
