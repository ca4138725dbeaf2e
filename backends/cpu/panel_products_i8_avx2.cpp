// I8 weights in panels without VNNI. Few rows are multiplied in bytes, more in numbers of 16 bits, to which a panel is
// widened once for all of them.
#include "backends/cpu/panel_products_i8.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <vector>

namespace headscope::cpu {

namespace {

#define HEADSCOPE_AVX2 __attribute__((target("avx2")))
#define HEADSCOPE_AVX2_INLINE inline __attribute__((always_inline, target("avx2")))

constexpr int kEight = 8;  // sums of a vector

template <int count>
HEADSCOPE_AVX2_INLINE void set_zero(__m256i (&sums)[count]) {
#pragma GCC unroll 8
    for (__m256i& sum : sums) {
        sum = _mm256_setzero_si256();
    }
}

// The compiler would copy the sums to other registers and back in each turn.
HEADSCOPE_AVX2_INLINE __m256i plus(__m256i sum, __m256i products) {
    __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
    return sum;
}

HEADSCOPE_AVX2_INLINE void store_both(const I8PanelPart& p, std::int64_t row, std::int64_t lane, __m256i low,
                                      __m256i high) {
    LanesOf<kEight> own;
    own.part[0] = _mm256_cvtepi32_ps(low);
    own.part[1] = _mm256_cvtepi32_ps(high);
    store_sums(p, row, lane, own);
}

// Numbers without a sign times numbers with one, and pairs of products added in 16 bits, which 127 x 127
// twice does not overflow. So the weight takes the sign of the other side, and that side its magnitude.
template <int rows>
HEADSCOPE_AVX2_INLINE void narrow_tile(const I8PanelPart& p, std::int64_t row) {
    const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
    const __m256i ones = _mm256_set1_epi16(1);
    const std::int8_t* a = p.a.row(row);
    for (std::int64_t lane = 0; lane < kPanelColumns; lane += 2 * kEight) {
        __m256i sums[2 * rows];
        set_zero(sums);
        for (std::int64_t x = 0; x < p.product.k; x += kUnit) {
            const auto* units = reinterpret_cast<const __m256i*>(p.panel + x * kPanelColumns + lane * kUnit);
            const __m256i weights[2] = {_mm256_xor_si256(_mm256_loadu_si256(units), sign),
                                        _mm256_xor_si256(_mm256_loadu_si256(units + 1), sign)};
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) {
                const __m256i numbers = _mm256_set1_epi32(unit_of(a + i * p.a.step + x));
                const __m256i magnitudes = _mm256_abs_epi8(numbers);
#pragma GCC unroll 2
                for (int j = 0; j < 2; ++j) {
                    const __m256i pairs = _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(weights[j], numbers));
                    sums[2 * i + j] = plus(sums[2 * i + j], _mm256_madd_epi16(pairs, ones));
                }
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
            store_both(p, row + i, lane, sums[2 * i], sums[2 * i + 1]);
        }
    }
}

// A panel as [k / 2, 32, 2]: pairs of numbers of a column, for one instruction that multiplies and adds them.
HEADSCOPE_AVX2 void widen_panel(const I8PanelPart& p, std::int16_t* to) {
    const __m256i excess = _mm256_set1_epi16(kExcess);
    for (std::int64_t x = 0; x < p.product.k; x += kUnit) {
        for (std::int64_t lane = 0; lane < kPanelColumns; lane += kEight) {
            const auto* units = reinterpret_cast<const __m128i*>(p.panel + x * kPanelColumns + lane * kUnit);
            // Four numbers of four columns each.
            const __m256i first = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(units)), excess);
            const __m256i last = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(units + 1)), excess);
            constexpr int kSwapMiddle = 0b11'01'10'00;
            // Pairs of columns 0 1 4 5 2 3 6 7.
            const __m256i low = _mm256_unpacklo_epi64(_mm256_shuffle_epi32(first, kSwapMiddle),
                                                      _mm256_shuffle_epi32(last, kSwapMiddle));
            const __m256i high = _mm256_unpackhi_epi64(_mm256_shuffle_epi32(first, kSwapMiddle),
                                                       _mm256_shuffle_epi32(last, kSwapMiddle));
            auto* pairs = reinterpret_cast<__m256i*>(to + x * kPanelColumns + lane * 2);
            _mm256_storeu_si256(pairs, _mm256_permute4x64_epi64(low, kSwapMiddle));
            _mm256_storeu_si256(pairs + kPanelColumns / kEight, _mm256_permute4x64_epi64(high, kSwapMiddle));
        }
    }
}

HEADSCOPE_AVX2 void widen_row(const std::int8_t* from, std::int64_t k, std::int16_t* to) {
    for (std::int64_t x = 0; x < k; ++x) {
        to[x] = from[x];
    }
}

// Rows [row, row + rows) times a widened panel; `a` begins at that row.
template <int rows>
HEADSCOPE_AVX2_INLINE void wide_tile(const I8PanelPart& p, std::int64_t row, const std::int16_t* a,
                                     const std::int16_t* panel) {
    const std::int64_t k = p.product.k;
    for (std::int64_t lane = 0; lane < kPanelColumns; lane += 2 * kEight) {
        __m256i sums[2 * rows];
        set_zero(sums);
        for (std::int64_t x = 0; x < k; x += 2) {
            const auto* pairs = reinterpret_cast<const __m256i*>(panel + x * kPanelColumns + lane * 2);
            const __m256i weights[2] = {_mm256_loadu_si256(pairs), _mm256_loadu_si256(pairs + 1)};
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) {
                std::int32_t pair = 0;
                std::memcpy(&pair, a + i * k + x, sizeof(pair));
                const __m256i numbers = _mm256_set1_epi32(pair);
                sums[2 * i] = plus(sums[2 * i], _mm256_madd_epi16(weights[0], numbers));
                sums[2 * i + 1] = plus(sums[2 * i + 1], _mm256_madd_epi16(weights[1], numbers));
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
            store_both(p, row + i, lane, sums[2 * i], sums[2 * i + 1]);
        }
    }
}

}  // namespace

HEADSCOPE_AVX2 void multiply_panel_avx2(const I8PanelPart& p, std::int64_t first, std::int64_t count) {
    constexpr std::int64_t kWorthWidening = 8;  // rows
    constexpr int kRows = 4;                    // eight sums leave registers for their terms
    const std::int64_t end = first + count;
    std::int64_t row = first;
    if (count >= kWorthWidening) {
        const std::int64_t k = p.product.k;
        thread_local std::vector<std::int16_t> panel;
        thread_local std::vector<std::int16_t> rows;
        panel.resize(static_cast<std::size_t>(k * kPanelColumns));
        rows.resize(static_cast<std::size_t>(k * kRows));
        widen_panel(p, panel.data());
        for (; row + kRows <= end; row += kRows) {
            for (std::int64_t i = 0; i < kRows; ++i) {
                widen_row(p.a.row(row + i), k, rows.data() + i * k);
            }
            wide_tile<kRows>(p, row, rows.data(), panel.data());
        }
    }
    for (; row + 4 <= end; row += 4) {
        narrow_tile<4>(p, row);
    }
    for (; row < end; ++row) {
        narrow_tile<1>(p, row);
    }
}

}  // namespace headscope::cpu

#endif
