// A DropoutRule as kernels read it (backend/dropout_rule.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backend/dropout_rule.h"
#include "backend/philox.h"

namespace headscope::cuda {

struct DropoutKernel {
    bool on = false;
    std::uint32_t threshold = 0;
    std::uint32_t seed = 0;
    std::uint32_t site = 0;
    float scale = 1.0F;
    const std::int32_t* step = nullptr;
    const std::int32_t* ordinals = nullptr;
};

// The random words of the eight columns from 8 * group on.
__host__ __device__ inline PhiloxCounter words_of_eight(const DropoutKernel& rule, std::int64_t batch,
                                                        std::int64_t head, std::int64_t position, std::int64_t group) {
    return philox({static_cast<std::uint32_t>(group),
                   (static_cast<std::uint32_t>(head) << 16U) | static_cast<std::uint32_t>(position),
                   static_cast<std::uint32_t>(rule.ordinals[batch]), rule.site},
                  {rule.seed, static_cast<std::uint32_t>(*rule.step)});
}

// Whether one of these columns is kept. The words are chosen by comparisons, not by an index, which would put them into
// memory.
__host__ __device__ inline bool keeps(const DropoutKernel& rule, const PhiloxCounter& words, std::uint32_t within) {
    const std::uint32_t lower = within < 2 ? words[0] : words[1];
    const std::uint32_t upper = within < 6 ? words[2] : words[3];
    return ((within < 4 ? lower : upper) >> (within % 2 * 16U) & 0xFFFFU) >= rule.threshold;
}

// Which of these columns are kept, a bit for each.
__host__ __device__ inline std::uint8_t kept_of_eight(const DropoutKernel& rule, std::int64_t batch, std::int64_t head,
                                                      std::int64_t position, std::int64_t group) {
    const PhiloxCounter words = words_of_eight(rule, batch, head, position, group);
    unsigned bits = 0;
    for (std::uint32_t within = 0; within < 8; ++within) {
        bits |= static_cast<unsigned>(keeps(rule, words, within)) << within;
    }
    return static_cast<std::uint8_t>(bits);
}

// Multiplies `values`, at columns from `column`, by 0 or the scale. N is 1 or divides 8, and column is a multiple of N,
// so they share a Philox block.
template <int N>
__host__ __device__ inline void drop(const DropoutKernel& rule, std::int64_t batch, std::int64_t head,
                                     std::int64_t position, std::int64_t column, float (&values)[N]) {
    if (!rule.on) {
        return;
    }
    const PhiloxCounter words = words_of_eight(rule, batch, head, position, column / 8);
    for (int i = 0; i < N; ++i) {
        const auto within = static_cast<std::uint32_t>(N == 8 ? i : (column + i) % 8);
        values[i] = keeps(rule, words, within) ? values[i] * rule.scale : 0.0F;
    }
}

}  // namespace headscope::cuda
