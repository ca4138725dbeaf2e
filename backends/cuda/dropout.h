// A DropoutRule as kernels read it (backend/ops/common.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backend/ops/common.h"
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

// Multiplies `values`, at columns from `column`, by 0 or the scale. N is 1 or divides 8, and column is a multiple of N,
// so they share a Philox block.
template <int N>
__host__ __device__ inline void drop(const DropoutKernel& rule, std::int64_t batch, std::int64_t head,
                                     std::int64_t position, std::int64_t column, float (&values)[N]) {
    if (!rule.on) {
        return;
    }
    const PhiloxCounter words =
        philox({static_cast<std::uint32_t>(column / 8),
                (static_cast<std::uint32_t>(head) << 16U) | static_cast<std::uint32_t>(position),
                static_cast<std::uint32_t>(rule.ordinals[batch]), rule.site},
               {rule.seed, static_cast<std::uint32_t>(*rule.step)});
    for (int i = 0; i < N; ++i) {
        const auto within = static_cast<std::uint32_t>((column + i) % 8);
        const std::uint32_t bits = words[within / 2] >> (within % 2 * 16U) & 0xFFFFU;
        values[i] = bits >= rule.threshold ? values[i] * rule.scale : 0.0F;
    }
}

}  // namespace headscope::cuda
