// I8 products for many rows: 16 rows of a are in the lanes of a vector, four numbers of each in a lane, and four
// numbers of a column of b are broadcast to all lanes. Here a is the unsigned side: 128 is added to its numbers, and
// 128 times the sum of the column is subtracted.
#include "backends/cpu/products_i8.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/lanes.h"
#include "backends/cpu/row_panels.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kUnit = 4;  // numbers that one instruction sums in a lane

// 128 times the sum of each column.
HEADSCOPE_VNNI_INLINE void excess_of(const OperandsI8& p, std::int64_t column, std::int32_t* to) {
    const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
    Sums sums[kLanes];
    for (std::int64_t j = 0; j < kColumns; ++j) {
        const std::int8_t* b = p.b + std::min(column + j, p.n - 1) * p.b_step;
        __m512i sum = _mm512_setzero_si512();
        for (std::int64_t x = 0; x < p.k; x += kBytes) {
            const std::int64_t left = p.k - x;
            const __mmask64 mask = left >= kBytes ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
            sum = _mm512_dpbusd_epi32(sum, high, _mm512_maskz_loadu_epi8(mask, b + x));
        }
        std::memcpy(&sums[j], &sum, sizeof(sum));
    }
    Sums totals;
    totals_of(sums, totals);
    std::memcpy(to, &totals, sizeof(totals));
}

HEADSCOPE_INLINE std::int32_t unit_at(const std::int8_t* from) {
    std::int32_t unit = 0;
    std::memcpy(&unit, from, kUnit);
    return unit;
}

// weight(j) is a unit of column j.
template <int panels, int columns, class Weight>
HEADSCOPE_VNNI_INLINE void multiply_add(const std::uint8_t* a, std::int64_t panel_bytes, Weight weight, __m512i* sums) {
    __m512i values[panels];
    for (int i = 0; i < panels; ++i) {
        values[i] = _mm512_loadu_si512(a + i * panel_bytes);
    }
    for (int j = 0; j < columns; ++j) {
        const __m512i unit = _mm512_set1_epi32(weight(j));
        for (int i = 0; i < panels; ++i) {
            sums[i * columns + j] = _mm512_dpbusd_epi32(sums[i * columns + j], values[i], unit);
        }
    }
}

// to[i * kColumns + j] = panel i times column j. Missing columns repeat the last one.
template <int panels, int columns>
HEADSCOPE_VNNI_INLINE void tile(const OperandsI8& p, const std::uint8_t* a, std::int64_t column, Lanes* to) {
    const std::int8_t* b[columns];
    std::int32_t last[columns] = {};  // if k is not a multiple of kUnit
    const std::int64_t whole = p.k / kUnit * kUnit;
    for (int j = 0; j < columns; ++j) {
        b[j] = p.b + std::min(column + j, p.n - 1) * p.b_step;
        std::memcpy(&last[j], b[j] + whole, static_cast<std::size_t>(p.k - whole));
    }
    __m512i sums[panels * columns];
    for (__m512i& sum : sums) {
        sum = _mm512_setzero_si512();
    }
    const std::int64_t panel_bytes = kPanelRows * p.a_step;
    for (std::int64_t x = 0; x < whole; x += kUnit) {
        multiply_add<panels, columns>(
            a + x * kPanelRows, panel_bytes, [&](int j) { return unit_at(b[j] + x); }, sums);
    }
    if (whole < p.k) {
        multiply_add<panels, columns>(
            a + whole * kPanelRows, panel_bytes, [&](int j) { return last[j]; }, sums);
    }
    for (int i = 0; i < panels; ++i) {
        for (int j = 0; j < columns; ++j) {
            std::memcpy(&to[i * kColumns + j], &sums[i * columns + j], kBytes);
        }
    }
}

template <int panels, int columns>
HEADSCOPE_VNNI_INLINE void block(const OperandsI8& p, const std::uint8_t* a, std::int64_t row, std::int64_t column,
                                 const std::int32_t* excess) {
    Lanes sums[panels][kLanes];
    for (std::int64_t j = 0; j < kColumns; j += columns) {
        tile<panels, columns>(p, a, column + j, sums[0] + j);
    }
    const auto excess_at = [excess](std::int64_t j) { return excess[j]; };
    for (int i = 0; i < panels; ++i) {
        transpose(sums[i]);
        std::int32_t products[kPanelRows][kColumns];
        std::memcpy(products, sums[i], sizeof(products));
        const std::int64_t first = row + i * kPanelRows;
        const std::int64_t width = std::min(kColumns, p.n - column);
        for (std::int64_t r = 0; r < std::min(kPanelRows, p.m - first); ++r) {
            // A compile-time length, except at the end.
            store_sums(p, first + r, column, width == kColumns ? kColumns : width, products[r], excess_at);
        }
    }
}

// Rows whose panels stay in the L2 cache while the columns pass.
constexpr std::int64_t kRowsAtOnce = 512;

}  // namespace

HEADSCOPE_VNNI void columns_of_panels(const OperandsI8& p, const std::uint8_t* panels, std::int64_t begin,
                                      std::int64_t end) {
    for (std::int64_t first = 0; first < p.m; first += kRowsAtOnce) {
        const std::int64_t last = std::min(p.m, first + kRowsAtOnce);
        for (std::int64_t column = begin; column < end; column += kColumns) {
            std::int32_t excess[kColumns];
            excess_of(p, column, excess);
            std::int64_t row = first;
            for (; row + kPanelRows < last; row += 2 * kPanelRows) {
                block<2, 8>(p, panels + row * p.a_step, row, column, excess);
            }
            if (row < last) {
                block<1, 8>(p, panels + row * p.a_step, row, column, excess);
            }
        }
    }
}

}  // namespace headscope::cpu

#else

#include "support/check.h"

namespace headscope::cpu {

void columns_of_panels(const OperandsI8& /*p*/, const std::uint8_t* /*panels*/, std::int64_t /*begin*/,
                       std::int64_t /*end*/) {
    HEADSCOPE_CHECK(false, "this processor has no VNNI");
}

}  // namespace headscope::cpu

#endif
