// I8 weights, with rows of a rounded to I8 on the fly. Sums are exact integers, so every way to compute them gives the
// same bits. With VNNI one instruction multiplies and adds 64 pairs; it needs one unsigned side, so 128 is added to the
// weights, and 128 times the sum of a's row is subtracted.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products.h"
#include "backends/cpu/products_i8.h"
#include "backends/cpu/rounded_rows.h"
#include "backends/cpu/row_panels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headscope::cpu {

namespace {

HEADSCOPE_CLONES void columns_plainly(const OperandsI8& p, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = 0; row < p.m; ++row) {
        const std::int8_t* a = p.a + row * p.a_step;
        for (std::int64_t column = begin; column < end; ++column) {
            const std::int8_t* b = p.b + column * p.b_step;
            std::int32_t sum = 0;
            for (std::int64_t i = 0; i < p.k; ++i) {
                sum += static_cast<std::int32_t>(a[i]) * static_cast<std::int32_t>(b[i]);
            }
            store_sums(p, row, column, 1, &sum, [](std::int64_t) { return 0; });
        }
    }
}

#if defined(__x86_64__)

// rows * columns = 16 results. Missing columns repeat the last one, and are not stored.
template <int rows, int columns>
HEADSCOPE_VNNI_INLINE void tile(const OperandsI8& p, std::int64_t row, std::int64_t column) {
    static_assert(rows * columns == 16);
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    const std::int8_t* b[columns];
    for (int j = 0; j < columns; ++j) {
        b[j] = p.b + std::min(column + j, p.n - 1) * p.b_step;
    }
    const std::int8_t* a = p.a + row * p.a_step;
    __m512i sums[16];
    for (__m512i& sum : sums) {
        sum = _mm512_setzero_si512();
    }
    for (std::int64_t x = 0; x < p.k; x += kBytes) {
        const std::int64_t left = p.k - x;
        const __mmask64 mask = left >= kBytes ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
        __m512i values[rows];
        for (int i = 0; i < rows; ++i) {
            values[i] = _mm512_loadu_si512(a + i * p.a_step + x);
        }
        for (int j = 0; j < columns; ++j) {
            const __m512i weights = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, b[j] + x), sign);
            for (int i = 0; i < rows; ++i) {
                sums[i * columns + j] = _mm512_dpbusd_epi32(sums[i * columns + j], weights, values[i]);
            }
        }
    }
    Sums folded[kLanes];
    std::memcpy(folded, sums, sizeof(folded));
    Sums totals;
    totals_of(folded, totals);
    std::int32_t products[kLanes];
    std::memcpy(products, &totals, sizeof(products));
    const std::int64_t width = std::min<std::int64_t>(columns, p.n - column);
    for (int i = 0; i < rows; ++i) {
        const std::int32_t excess = 128 * p.a_sums[row + i];
        // A compile-time length, except at the end.
        store_sums(p, row + i, column, width == columns ? columns : width, products + i * columns,
                   [excess](std::int64_t) { return excess; });
    }
}

HEADSCOPE_VNNI void columns_in_fours(const OperandsI8& p, std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += kColumns) {
        std::int64_t row = 0;
        for (; row + 4 <= p.m; row += 4) {
            for (std::int64_t column = first; column < std::min(end, first + kColumns); column += 4) {
                tile<4, 4>(p, row, column);
            }
        }
        for (; row < p.m; ++row) {
            tile<1, 16>(p, row, first);
        }
    }
}

#else

void columns_in_fours(const OperandsI8& p, std::int64_t begin, std::int64_t end) {
    columns_plainly(p, begin, end);
}

#endif

// The layout of row_panels.h, with four numbers for each of its elements.
const std::int8_t* in_row_panels(const RoundedRows& rows, std::int64_t m) {
    constexpr std::int64_t kNumbers = sizeof(float);
    thread_local std::vector<float> panels;
    panels.resize(static_cast<std::size_t>(panels_of(m) * kPanelRows * rows.step / kNumbers));
    pack_row_panels(reinterpret_cast<const float*>(rows.values.data()), rows.step / kNumbers, m, rows.step / kNumbers,
                    panels.data());
    return reinterpret_cast<const std::int8_t*>(panels.data());
}

}  // namespace

void multiply_i8(ThreadPool& pool, const StoredProduct& product, IntegerWay best) {
    constexpr std::int64_t kWorthAThread = 1 << 19;  // multiplications
    constexpr std::int64_t kFewRows = 10;            // up to which a panel of 16 would be mostly empty
    thread_local RoundedRows rows;                   // kept, so that each step reuses the same pages
    round_rows(pool, product, rows);
    const OperandsI8 operands{.a = rows.values.data(),
                              .a_scales = rows.scales.data(),
                              .a_sums = rows.sums.data(),
                              .a_step = rows.step,
                              .b = data_of<const std::int8_t>(product.b),
                              .b_scales = product.scales,
                              .b_step = product.b.stride(0),
                              .out = product.out,
                              .out_step = product.out_step,
                              .m = product.m,
                              .n = product.n,
                              .k = product.k,
                              .alpha = product.alpha,
                              .beta = product.beta};
    const bool in_tiles = best == IntegerWay::Tiles && product.m > kFewRows && has_tiles();
    const bool in_fours = best >= IntegerWay::Fours && has_vnni();
    const std::int8_t* panels = in_tiles ? in_row_panels(rows, product.m) : nullptr;
    const std::int64_t tasks = (product.n + kColumns - 1) / kColumns;
    const std::int64_t each = std::max<std::int64_t>(product.m * kColumns * product.k, 1);
    pool.for_ranges(tasks, kWorthAThread / each + 1, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t last = std::min(product.n, end * kColumns);
        if (in_tiles) {
            columns_in_tiles(operands, panels, begin * kColumns, last);
        } else if (in_fours) {
            columns_in_fours(operands, begin * kColumns, last);
        } else {
            columns_plainly(operands, begin * kColumns, last);
        }
    });
}

}  // namespace headscope::cpu
