#include "backends/cpu/halves.h"

#include <bit>

#include "backends/cpu/clones.h"
#include "backends/cpu/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headscope::cpu {

namespace {

void widen_plainly(const std::uint16_t* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = from_f16(from[i]);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void widen_eights(const std::uint16_t* from, std::int64_t count, float* to) {
    constexpr std::int64_t kEight = 8;
    std::int64_t i = 0;
    for (; i + kEight <= count; i += kEight) {
        const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
    }
    widen_plainly(from + i, count - i, to + i);
}

__attribute__((target("avx512f,avx512vl,f16c"))) void widen_sixteens(const std::uint16_t* from, std::int64_t count,
                                                                     float* to) {
    constexpr std::int64_t kSixteen = 16;
    std::int64_t i = 0;
    for (; i + kSixteen <= count; i += kSixteen) {
        const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
        _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(__mmask16{0xffff}, bits));
    }
    widen_plainly(from + i, count - i, to + i);
}
#endif

HEADSCOPE_CLONES void widen_bf16(const std::uint16_t* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16U);
    }
}

}  // namespace

void widen_f16(const std::uint16_t* from, std::int64_t count, float* to) {
#if defined(__x86_64__)
    // clang 14 cannot test for F16C, which every processor with AVX2 has (both belong to x86-64-v3).
    static const auto widen = has_many_registers() ? widen_sixteens : has_avx2() ? widen_eights : widen_plainly;
    widen(from, count, to);
#else
    widen_plainly(from, count, to);
#endif
}

void widen_halves(DType dtype, const std::uint16_t* from, std::int64_t count, float* to) {
    (dtype == DType::BF16 ? widen_bf16 : widen_f16)(from, count, to);
}

}  // namespace headscope::cpu
