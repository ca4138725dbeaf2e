// Attention of sentences of any length on tensor cores, in tiles of 64 queries and keys (Dao, "FlashAttention-2",
// 2023). Forward: a block for 64 queries of a head goes over the keys. Backward: blocks that own keys go over the
// queries, blocks that own queries over the keys. What a block holds is a pure function, testable without a device.
#pragma once

#include "backends/cuda/short_attention.h"

namespace headscope::cuda {

constexpr int kLongTile = 64;  // rows that a block owns
constexpr int kLongWarps = kLongTile / kTileRows;

// The shared memory of a forward's block, in bytes from its beginning: the queries, and keys and values in two stages,
// of which one arrives while the other is used.
struct LongLayout {
    int depth = 0;
    int element = 2;  // bytes

    constexpr int pitch() const { return depth + padding_of(element); }
    constexpr int queries() const { return 0; }
    constexpr int keys(int stage) const { return (1 + 2 * stage) * tile_bytes(); }
    constexpr int values(int stage) const { return (2 + 2 * stage) * tile_bytes(); }
    constexpr int kept(int warp) const { return 5 * tile_bytes() + warp * kTileRows * ShortLayout::kKeptBytes; }
    constexpr int bytes(bool dropout) const { return kept(dropout ? kLongWarps : 0); }

private:
    constexpr int tile_bytes() const { return kLongTile * pitch() * element; }
};

// Rows of the other side that the backward's blocks go over at a time: more would need more registers than there are.
constexpr int kPassingRows = 32;
// Longer rows than 128 columns in 16 bits or 64 in F32 would need more registers than there are.
constexpr int kMostBackRowBytes = 256;
// For how many of the backward's blocks a multiprocessor has registers, by the bytes of a row: with three of them a
// thread has 168.
constexpr int long_back_blocks(int row_bytes) {
    return row_bytes <= 128 ? 3 : 2;
}

// The same of a backward's block, of both kinds: queries and the gradient of out, and keys and values, of which it owns
// 64 rows each, while rows of the others pass in two stages. Blocks that own keys know more of each passing query.
struct LongBackLayout {
    int depth = 0;
    bool owns_keys = false;
    int element = 2;  // bytes
    static constexpr int kRowBytes = 16;

    constexpr int pitch() const { return depth + padding_of(element); }
    constexpr int own(int operand) const { return operand * rows_bytes(kLongTile); }
    constexpr int passing(int stage, int operand) const {
        return own(2) + (2 * stage + operand) * rows_bytes(kPassingRows);
    }
    constexpr int rows(int stage) const { return passing(2, 0) + (owns_keys ? stage * kPassingRows * kRowBytes : 0); }
    constexpr int kept(int warp) const { return rows(2) + warp * kTileRows * ShortLayout::kKeptBytes; }
    constexpr int bytes(bool dropout) const { return kept(dropout ? kLongWarps : 0); }

private:
    constexpr int rows_bytes(int rows) const { return rows * pitch() * element; }
};

}  // namespace headscope::cuda
