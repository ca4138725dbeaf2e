// I8 weights in panels. The columns of W are in the lanes of a vector, four numbers of each in a lane, and four numbers
// of a row of a are broadcast to all lanes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"
#include "backends/cpu/panel_products.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products_i8.h"
#include "backends/cpu/rounded_rows.h"
#include "backends/cpu/weight_panels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headscope::cpu {

namespace {

// Some rows times a panel, of which `width` columns exist.
struct I8PanelPart {
    const StoredProduct& product;
    const RoundedRows& a;
    const std::uint8_t* panel;  // [k / 4, width, 4], 128 added
    const std::uint8_t* next;   // the panel to prefetch, or null
    std::int64_t column, width;
};

// Writes 16 columns of an output row, from `lane` on: sums of products with weights that are 128 too large.
HEADSCOPE_INLINE void store_sums(const I8PanelPart& p, std::int64_t row, std::int64_t lane, const LaneInts& sums) {
    const StoredProduct& product = p.product;
    const auto at = static_cast<std::size_t>(row);
    const std::int64_t count = std::min(kLanes, p.width - lane);
    Lanes scales = {};
    if (count == kLanes) {
        std::memcpy(&scales, product.scales + p.column + lane, sizeof(scales));
    } else if (count > 0) {
        std::memcpy(&scales, product.scales + p.column + lane, static_cast<std::size_t>(count) * sizeof(float));
    }
    Lanes values = __builtin_convertvector(sums - 128 * p.a.sums[at], Lanes);
    values *= product.alpha * p.a.scales[at] * scales;
    store_columns(product, row, p.column + lane, count, values);
}

HEADSCOPE_CLONES void plainly(const I8PanelPart& p, std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
        const std::int8_t* a = p.a.row(row);
        std::int32_t sums[kPanelColumns] = {};
        for (std::int64_t x = 0; x < p.product.k; x += kUnit) {
            const std::uint8_t* units = p.panel + x * p.width;
            for (std::int64_t j = 0; j < p.width; ++j) {
                for (std::int64_t i = 0; i < kUnit; ++i) {
                    sums[j] += static_cast<std::int32_t>(a[x + i]) * static_cast<std::int32_t>(units[j * kUnit + i]);
                }
            }
        }
        for (std::int64_t lane = 0; lane < p.width; lane += kLanes) {
            LaneInts own;
            std::memcpy(&own, sums + lane, sizeof(own));
            store_sums(p, row, lane, own);
        }
    }
}

#if defined(__x86_64__)

HEADSCOPE_INLINE std::int32_t unit_of(const std::int8_t* a) {
    std::int32_t unit = 0;
    std::memcpy(&unit, a, kUnit);
    return unit;
}

#define HEADSCOPE_AVX2 __attribute__((target("avx2")))
#define HEADSCOPE_AVX2_INLINE inline __attribute__((always_inline, target("avx2")))

// The compiler would copy the sums to other registers and back in each turn.
HEADSCOPE_VNNI_INLINE __m512i plus_products(__m512i sums, __m512i weights, __m512i numbers) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(numbers));
    return sums;
}

// `rows` rows times a whole panel, two vectors of columns.
template <int rows, bool fetch>
HEADSCOPE_VNNI_INLINE void vnni_tile(const I8PanelPart& p, std::int64_t row) {
    const std::int8_t* a = p.a.row(row);
    const std::int64_t step = p.a.step;
    const std::int64_t k = p.product.k;
    const std::uint8_t* units = p.panel;
    const std::uint8_t* next = p.next;
    __m512i sums[2 * rows];
#pragma GCC unroll 16
    for (__m512i& sum : sums) {
        sum = _mm512_setzero_si512();
    }
    for (std::int64_t x = 0; x < k; x += kUnit) {
        const __m512i low = _mm512_loadu_si512(units);
        const __m512i high = _mm512_loadu_si512(units + sizeof(__m512i));
        units += 2 * sizeof(__m512i);
        if constexpr (fetch) {
            __builtin_prefetch(next);
            __builtin_prefetch(next + sizeof(__m512i));
            next += 2 * sizeof(__m512i);
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            const __m512i numbers = _mm512_set1_epi32(unit_of(a + i * step + x));
            sums[2 * i] = plus_products(sums[2 * i], low, numbers);
            sums[2 * i + 1] = plus_products(sums[2 * i + 1], high, numbers);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
            LaneInts own;
            std::memcpy(&own, &sums[2 * i + j], sizeof(own));
            store_sums(p, row + i, j * kLanes, own);
        }
    }
}

template <int... rows>
HEADSCOPE_VNNI_INLINE void last_vnni_tile(const I8PanelPart& p, std::int64_t row, std::int64_t count,
                                          std::integer_sequence<int, rows...> /*fewer*/) {
    static_cast<void>(((count == rows + 1 && (vnni_tile<rows + 1, false>(p, row), true)) || ...));
}

HEADSCOPE_VNNI void with_vnni(const I8PanelPart& p, std::int64_t first, std::int64_t count) {
    constexpr int kRows = 8;
    const std::int64_t end = first + count;
    std::int64_t row = first;
    if (p.next != nullptr && row + kRows <= end) {
        vnni_tile<kRows, true>(p, row);
        row += kRows;
    }
    for (; row + kRows <= end; row += kRows) {
        vnni_tile<kRows, false>(p, row);
    }
    last_vnni_tile(p, row, end - row, std::make_integer_sequence<int, kRows - 1>());
}

// Without VNNI: numbers without a sign times numbers with one, and pairs of products added in 16 bits, which 127 x 127
// twice does not overflow. So the weight takes the sign of the other side, and that side its magnitude.
template <int rows>
HEADSCOPE_AVX2_INLINE void avx2_tile(const I8PanelPart& p, std::int64_t row) {
    constexpr std::int64_t kEight = 8;
    const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
    const __m256i ones = _mm256_set1_epi16(1);
    const std::int8_t* a = p.a.row(row);
    for (std::int64_t lane = 0; lane < kPanelColumns; lane += 2 * kEight) {
        __m256i sums[rows][2];
        for (int i = 0; i < rows; ++i) {
            sums[i][0] = _mm256_setzero_si256();
            sums[i][1] = _mm256_setzero_si256();
        }
        for (std::int64_t x = 0; x < p.product.k; x += kUnit) {
            const auto* units = reinterpret_cast<const __m256i*>(p.panel + x * kPanelColumns + lane * kUnit);
            const __m256i weights[2] = {_mm256_xor_si256(_mm256_loadu_si256(units), sign),
                                        _mm256_xor_si256(_mm256_loadu_si256(units + 1), sign)};
            for (int i = 0; i < rows; ++i) {
                const __m256i numbers = _mm256_set1_epi32(unit_of(a + i * p.a.step + x));
                const __m256i magnitudes = _mm256_abs_epi8(numbers);
                for (int j = 0; j < 2; ++j) {
                    const __m256i pairs = _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(weights[j], numbers));
                    sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (int i = 0; i < rows; ++i) {
            const __m256i excess = _mm256_set1_epi32(128 * p.a.sums[static_cast<std::size_t>(row + i)]);
            const __m256i both[2] = {_mm256_add_epi32(sums[i][0], excess), _mm256_add_epi32(sums[i][1], excess)};
            LaneInts own;
            std::memcpy(&own, both, sizeof(own));
            store_sums(p, row + i, lane, own);
        }
    }
}

HEADSCOPE_AVX2 void with_avx2(const I8PanelPart& p, std::int64_t first, std::int64_t count) {
    std::int64_t row = first;
    for (; row + 4 <= first + count; row += 4) {
        avx2_tile<4>(p, row);
    }
    for (; row < first + count; ++row) {
        avx2_tile<1>(p, row);
    }
}

#endif

using Tiles = void (*)(const I8PanelPart& p, std::int64_t first, std::int64_t count);

// For whole panels.
Tiles tiles_for(IntegerWay best) {
#if defined(__x86_64__)
    if (best != IntegerWay::Plain && has_vnni()) {
        return with_vnni;
    }
    if (best != IntegerWay::Plain && has_avx2()) {
        return with_avx2;
    }
#endif
    return plainly;
}

}  // namespace

void multiply_panels_i8(ThreadPool& pool, const StoredProduct& product, IntegerWay best) {
    constexpr std::int64_t kWorthAThread = 1 << 19;  // multiplications
    thread_local RoundedRows rounded;                // kept, so that each step reuses the same pages
    round_rows(pool, product, rounded);
    const RoundedRows& rows = rounded;  // this thread's, for all threads
    const auto* panels = reinterpret_cast<const std::uint8_t*>(first_byte(product.b));
    const Tiles whole = tiles_for(best);
    PanelTasks(product, rows.step)
        .share(pool, kWorthAThread, [&](std::int64_t row, std::int64_t count, std::int64_t column) {
            const std::int64_t width = panel_width(product.n, column);
            const std::uint8_t* panel = panels + column * product.k;
            const bool more = column + 2 * kPanelColumns <= product.n;
            (width == kPanelColumns ? whole : plainly)({.product = product,
                                                        .a = rows,
                                                        .panel = panel,
                                                        .next = more ? panel + kPanelColumns * product.k : nullptr,
                                                        .column = column,
                                                        .width = width},
                                                       row, count);
        });
}

}  // namespace headscope::cpu
