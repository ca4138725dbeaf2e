// "Add & Norm" with a warp for each row, whose columns stay in registers: no thread waits for another warp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cuda/layer_norm.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

// A lane has packs of eight columns; kernels exist for one to four.
constexpr std::int64_t kNormColumns = 256;  // of a warp's packs
constexpr std::int64_t kMostNormPacks = 4;

constexpr bool norms_in_warps(std::int64_t columns) {
    return columns > 0 && columns % kNormColumns == 0 && columns / kNormColumns <= kMostNormPacks;
}

// Blocks of the backward, each of which sums its rows' gradients of gain and bias: two for each multiprocessor,
// whatever the rows.
constexpr int kNormWarps = 8;
constexpr unsigned norm_blocks(std::int64_t rows, int multiprocessors) {
    return static_cast<unsigned>(
        std::clamp<std::int64_t>((rows + kNormWarps - 1) / kNormWarps, 1, 2 * std::int64_t{multiprocessors}));
}

template <class T>
void launch_norm_in_warps(Stream& stream, const NormForward<T>& norm, int multiprocessors);
// The number of parts in norm.partial.
template <class T>
std::int64_t launch_norm_in_warps(Stream& stream, const NormBackward<T>& norm, int multiprocessors);

}  // namespace headscope::cuda
