// Tiles and launches of fused attention: pure functions, testable without a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

// The columns of a head are padded with zeros, so that kernels exist for a few depths; 0 for too many columns.
constexpr int kDeepestHead = 256;
constexpr int padded_depth(std::int64_t d_k, std::int64_t d_v) {
    const std::int64_t depth = d_k > d_v ? d_k : d_v;
    return depth <= 32 ? 32 : depth <= 64 ? 64 : depth <= 128 ? 128 : depth <= kDeepestHead ? kDeepestHead : 0;
}

// Eight threads share a row of a tile: the four rows of a warp and the eight columns that it reads at once are then in
// different banks, with rows of D + 4 floats.
constexpr int kTileLanes = 8;
constexpr std::size_t kTilePadding = 4;

// Available to every block, also on a P100.
constexpr std::size_t kSharedBytesEverywhere = std::size_t{48} << 10U;

// Forward's block: its queries stay, while a tile's keys and then its values share one place, next to the weights.
template <int D>
struct ForwardTile {
    static constexpr int kQueries = D <= 64 ? 64 : D == 128 ? 32 : 16;
    static constexpr int kKeys = D <= 128 ? 32 : 16;
    static constexpr int kThreads = 128;
    static constexpr int kWeightsPitch = kKeys + kTileLanes;
    static constexpr std::size_t kSharedBytes =
        ((kQueries + kKeys) * (D + kTilePadding) + kQueries * kWeightsPitch) * sizeof(float);
    static_assert(kSharedBytes <= kSharedBytesEverywhere);
};

// Backward's blocks, both kinds: q, k, v and grad_out, and two matrices of weights and of the gradient of scores.
template <int D>
struct BackwardTile {
    static constexpr int kQueries = D <= 64 ? 32 : D == 128 ? 16 : 8;
    static constexpr int kKeys = kQueries;
    static constexpr int kThreads = D <= 128 ? 128 : 64;
    static constexpr int kWeightsPitch = kKeys + kTileLanes;               // [query][key]
    static constexpr int kTransposedPitch = kQueries + int{kTilePadding};  // [key][query]
    static constexpr std::size_t kTiles = 2 * (kQueries + kKeys) * (D + kTilePadding) * sizeof(float);
    static constexpr std::size_t kQuerySharedBytes = kTiles + kQueries * kWeightsPitch * sizeof(float);
    static constexpr std::size_t kKeySharedBytes = kTiles + 2 * kKeys * kTransposedPitch * sizeof(float);
    static_assert(kQuerySharedBytes <= kSharedBytesEverywhere && kKeySharedBytes <= kSharedBytesEverywhere);
};

// One query of a head for each block, for the few queries of decoding: all threads go over the keys.
struct DecodeTile {
    static constexpr std::int64_t kMostQueries = 4;
    static constexpr int kThreads = 128;
    static constexpr int kKeys = kThreads;     // at a time
    static constexpr int kDeepestNamed = 128;  // columns of heads whose keys are of several rows, in registers
};

// Blocks of `tile` rows for every head of every sentence; tiles of one head are neighbours.
Grid tile_grid(std::int64_t batch, std::int64_t heads, std::int64_t rows, int tile, int threads,
               std::size_t shared_bytes);

// One block for each query.
Grid decode_grid(std::int64_t batch, std::int64_t heads, std::int64_t queries);

}  // namespace headscope::cuda
