// What forward and backward of longer attention share: tiles of a long sentence as short ones.
#pragma once

#include "backends/cuda/long_attention.h"
#include "backends/cuda/short_attention_tiles.h"

namespace headscope::cuda {

// Rows from `first` on.
template <class T>
__device__ inline HeadRows<T> rows_after(const HeadRows<T>& rows, int first) {
    return {rows.row(first), rows.step, rows.columns, rows.wide};
}

// What the warp's queries see of `Count` keys from `first` on, counted from there.
template <int Count>
__device__ inline ShortRows rows_from(const ShortRows& all, const Keys& seen, int first) {
    ShortRows rows = all;
    for (Keys& allowed : rows.allowed) {
        allowed = {allowed.begin - first, allowed.end - first};
    }
    rows.pairs = seen.overlaps(first, first + Count) ? lesser(row_tiles(seen.end - first), Count / kTileRows) : 0;
    return rows;
}

// Draws for 16 queries of a warp and `Count` keys. Null without dropout.
template <int Count>
__device__ inline const std::uint8_t* draw_tile(const AttentionKernel& kernel, const TilePlace& place, int first_query,
                                                int first_key, std::uint8_t* kept) {
    if (!kernel.dropout.on) {
        return nullptr;
    }
    constexpr int kGroups = Count / 8;
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x) % kWarp; i < kTileRows * kGroups; i += kWarp) {
        kept[i / kGroups * ShortLayout::kKeptBytes + i % kGroups] = kept_of_eight(
            kernel.dropout, place.batch, place.head, first_query + i / kGroups, first_key / 8 + i % kGroups);
    }
    __syncwarp();
    return kept;
}

// Zeros in a tile of `count` keys from `first` on that no query of the sentence may see, as in clear_hidden().
template <int D, class T>
__device__ inline void clear_hidden_rows(const SentenceMask& mask, int first, int count, int limit,
                                         const SharedTile<T>& tile) {
    if (mask.ranges == nullptr && mask.window == 0) {
        return;
    }
    const float zeros[kVector<T>] = {};
    for (int key = static_cast<int>(threadIdx.x); key < count && first + key < limit;
         key += static_cast<int>(blockDim.x)) {
        if (mask.shows(first + key)) {
            continue;
        }
        for (int column = 0; column < D; column += kVector<T>) {
            store<kVector<T>>(zeros, tile.at(key, column));
        }
    }
    __syncthreads();
}

}  // namespace headscope::cuda
