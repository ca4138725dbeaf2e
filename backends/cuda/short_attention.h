// Attention of short sentences on tensor cores: one block for each head, the whole sentence in shared memory. What a
// block holds and when it fits are pure functions, testable without a device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope::cuda {

constexpr std::int64_t kLongestShort = 128;  // queries and keys
constexpr int kDeepestShort = 128;           // columns of a head
constexpr int kTileRows = 16;                // of the tensor cores' matrices, which a warp owns

constexpr int row_tiles(std::int64_t rows) {
    return static_cast<int>((rows + kTileRows - 1) / kTileRows);
}

// Rows of tiles end with 16 more bytes, an odd number of them altogether: the rows that one instruction reads are then
// in different banks.
constexpr int padding_of(int element_bytes) {
    return 16 / element_bytes;
}

// Kernels exist for so many tiles of eight keys: more of them need more registers.
constexpr int kKeyTiles[] = {6, 8, 16};
constexpr int padded_key_tiles(std::int64_t keys) {
    for (const int tiles : kKeyTiles) {
        if (keys <= 8 * tiles) {
            return tiles;
        }
    }
    return 0;
}

// The shared memory of a block, in bytes from its beginning. Tiles of operands have rows of `depth` elements, those
// of weights of the block's keys, both padded.
struct ShortLayout {
    int query_tiles = 0;  // of 16 rows
    int key_tiles = 0;
    int depth = 0;
    bool backward = false;
    int element = 2;  // bytes

    // Whether there are kernels for it.
    constexpr bool is_short() const {
        constexpr int kMost = kLongestShort / kTileRows;
        return 0 < query_tiles && query_tiles <= kMost && 0 < key_tiles && key_tiles <= kMost && 0 < depth &&
               depth <= kDeepestShort;
    }
    // A warp for each tile of queries; in the backward for each of keys, too.
    constexpr int warps() const { return backward && key_tiles > query_tiles ? key_tiles : query_tiles; }
    constexpr int pitch() const { return depth + padding_of(element); }
    constexpr int weights_pitch() const { return key_tiles * kTileRows + padding_of(element); }

    constexpr int queries() const { return 0; }
    constexpr int grad_out() const { return queries() + rows_bytes(query_tiles); }
    constexpr int keys() const { return grad_out() + (backward ? rows_bytes(query_tiles) : 0); }
    constexpr int values() const { return keys() + rows_bytes(key_tiles); }
    // The values' tile has rows for every warp in the backward, whose results go through it.
    constexpr int weights() const { return values() + rows_bytes(backward ? warps() : key_tiles); }
    constexpr int grad_scores() const { return weights() + weights_bytes(); }
    constexpr int kept() const { return grad_scores() + weights_bytes(); }
    // Of each query: a bit for each of its keys, whether dropout keeps it.
    static constexpr int kKeptBytes = kLongestShort / 8;
    constexpr int bytes(bool dropout) const { return kept() + (dropout ? query_tiles * kTileRows * kKeptBytes : 0); }

private:
    constexpr int rows_bytes(int tiles) const { return tiles * kTileRows * pitch() * element; }
    constexpr int weights_bytes() const { return backward ? query_tiles * kTileRows * weights_pitch() * element : 0; }
};

// What the module's kernels were compiled for: 90 for compute_90. Older PTX runs on newer cards, without their
// instructions.
int compiled_architecture();

}  // namespace headscope::cuda
