// Attention of sentences of any length on tensor cores: a block for 64 queries of a head, which goes over the keys in
// tiles of 64 (Dao, "FlashAttention-2", 2023). What a block holds is a pure function, testable without a device.
#pragma once

#include "backends/cuda/short_attention.h"

namespace headscope::cuda {

constexpr int kLongTile = 64;  // queries of a block, and keys at a time
constexpr int kLongWarps = kLongTile / kTileRows;

// The shared memory of a block, in bytes from its beginning: the queries, and keys and values in two stages, of which
// one arrives while the other is used.
struct LongLayout {
    int depth = 0;

    constexpr int pitch() const { return depth + 8; }
    constexpr int queries() const { return 0; }
    constexpr int keys(int stage) const { return (1 + 2 * stage) * tile_bytes(); }
    constexpr int values(int stage) const { return (2 + 2 * stage) * tile_bytes(); }
    constexpr int kept(int warp) const { return 5 * tile_bytes() + warp * kTileRows * ShortLayout::kKeptBytes; }
    constexpr int bytes(bool dropout) const { return kept(dropout ? kLongWarps : 0); }

private:
    constexpr int tile_bytes() const { return kLongTile * pitch() * 2; }
};

}  // namespace headscope::cuda
