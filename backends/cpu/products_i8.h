// Internal: common to the kernels of I8 products.
#pragma once

#include <cstdint>

#include "backends/cpu/clones.h"

namespace headscope::cpu {

constexpr std::int64_t kBytes = 64;    // of a vector
constexpr std::int64_t kColumns = 16;  // of a task

struct OperandsI8 {
    const std::int8_t* a;  // [m, a_step], padded with zeros to a multiple of 64
    const float* a_scales;
    const std::int32_t* a_sums;
    std::int64_t a_step;
    const std::int8_t* b;  // [n, k]
    const float* b_scales;
    std::int64_t b_step;
    float* out;
    std::int64_t out_step;
    std::int64_t m, n, k;
    float alpha, beta;
};

// Columns [column, column + count) of a row; the results are `sums` minus `excess`, or minus excess[j].
template <class Excess>
HEADSCOPE_INLINE void store_sums(const OperandsI8& p, std::int64_t row, std::int64_t column, std::int64_t count,
                                 const std::int32_t* sums, Excess excess) {
    const float scale = p.alpha * p.a_scales[row];
    const float* scales = p.b_scales + column;
    float* out = p.out + row * p.out_step + column;
    if (p.beta == 0.0F) {
        for (std::int64_t j = 0; j < count; ++j) {
            out[j] = scale * scales[j] * static_cast<float>(sums[j] - excess(j));
        }
    } else {
        for (std::int64_t j = 0; j < count; ++j) {
            out[j] = scale * scales[j] * static_cast<float>(sums[j] - excess(j)) + p.beta * out[j];
        }
    }
}

// All of a's rows times columns [begin, end). `panels`: a in the layout of row_panels.h with four-byte units. For
// processors with tile registers.
void columns_in_tiles(const OperandsI8& p, const std::int8_t* panels, std::int64_t begin, std::int64_t end);

#if defined(__x86_64__)
#define HEADSCOPE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define HEADSCOPE_VNNI_INLINE inline __attribute__((always_inline, target("avx512f,avx512bw,avx512vl,avx512vnni")))
using Sums = std::int32_t __attribute__((vector_size(kBytes)));
#endif

}  // namespace headscope::cpu
