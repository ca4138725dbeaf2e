// I8 weights, with rows of a rounded to I8 on the fly. Sums are exact integers, so every way to compute them gives the
// same bits. With VNNI one instruction multiplies and adds 64 pairs; it needs one unsigned side, so 128 is added to the
// weights, and 128 times the sum of a's row is subtracted.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backend/quantisation.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/memory/view.h"
#include "backends/cpu/products.h"
#include "backends/cpu/products_i8.h"
#include "backends/cpu/row_panels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headscope::cpu {

namespace {

// a as integers.
struct QuantisedRows {
    std::int64_t step = 0;
    std::vector<std::int8_t> values;  // [m, step]
    std::vector<float> scales;        // [m]; NaN for a row that holds NaN or infinity
    std::vector<std::int32_t> sums;   // [m]
    std::vector<std::uint8_t> panels;

    // Into the layout of row_panels.h.
    void pack(std::int64_t m) {
        constexpr std::int64_t kUnit = sizeof(float);
        panels.resize(static_cast<std::size_t>(panels_of(m) * kPanelRows * step));
        pack_row_panels(reinterpret_cast<const float*>(values.data()), step / kUnit, m, step / kUnit,
                        reinterpret_cast<float*>(panels.data()));
    }
    // Adds 128 to each number of the panels, so that none is negative.
    void take_signs() {
        for (std::uint8_t& value : panels) {
            value ^= 0x80U;
        }
    }
};

// Without their sign, floats are ordered like their bits; infinity and NaN come last.
HEADSCOPE_CLONES float largest_magnitude(const float* x, std::int64_t count) {
    std::int32_t largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        largest = std::max(largest, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
    }
    return std::bit_cast<float>(largest);
}

// Returns the sum of what it writes. Like quantised().
HEADSCOPE_CLONES std::int32_t quantise(const float* x, std::int64_t count, float inverse, std::int8_t* to) {
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto whole = static_cast<std::int32_t>(std::nearbyint(x[i] * inverse));
        to[i] = static_cast<std::int8_t>(whole);
        sum += whole;
    }
    return sum;
}

void quantise_rows(ThreadPool& pool, const NarrowProduct& p, QuantisedRows& to) {
    constexpr std::int64_t kWorthAThread = 1 << 15;  // elements
    to.step = (p.k + kBytes - 1) / kBytes * kBytes;
    to.values.resize(static_cast<std::size_t>(p.m * to.step));
    to.scales.resize(static_cast<std::size_t>(p.m));
    to.sums.resize(static_cast<std::size_t>(p.m));
    pool.for_ranges(p.m, kWorthAThread / std::max<std::int64_t>(p.k, 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto at = static_cast<std::size_t>(row);
            const float* from = p.a + row * p.a_step;
            std::int8_t* values = to.values.data() + row * to.step;
            const float largest = largest_magnitude(from, p.k);
            const bool finite = std::isfinite(largest);
            const RowScale scale = finite ? row_scale(largest) : RowScale{std::numeric_limits<float>::quiet_NaN(), 0};
            to.sums[at] = finite ? quantise(from, p.k, scale.inverse, values) : 0;
            to.scales[at] = scale.scale;
            std::fill(values + (finite ? p.k : 0), values + to.step, std::int8_t{0});
        }
    });
}

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

bool has_vnni() {
    static const bool has = __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                            __builtin_cpu_supports("avx512vl") != 0;
    return has;
}

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

bool has_vnni() {
    return false;
}

void columns_in_fours(const OperandsI8& p, std::int64_t begin, std::int64_t end) {
    columns_plainly(p, begin, end);
}

#endif

}  // namespace

void multiply_i8(ThreadPool& pool, const NarrowProduct& product, IntegerWay best) {
    constexpr std::int64_t kWorthAThread = 1 << 19;  // multiplications
    constexpr std::int64_t kFewRows = 10;            // up to which a panel of 16 would be mostly empty
    thread_local QuantisedRows rows;                 // kept, so that each step reuses the same pages
    quantise_rows(pool, product, rows);
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
    const bool many = product.m > kFewRows;
    const bool in_tiles = best == IntegerWay::Tiles && many && has_tiles();
    const bool in_fours = best != IntegerWay::Plain && has_vnni();
    const bool in_panels = in_fours && many && !in_tiles;
    if (in_panels || in_tiles) {
        rows.pack(product.m);
    }
    if (in_panels) {
        rows.take_signs();
    }
    const std::uint8_t* panels = rows.panels.data();
    const std::int64_t tasks = (product.n + kColumns - 1) / kColumns;
    const std::int64_t each = std::max<std::int64_t>(product.m * kColumns * product.k, 1);
    pool.for_ranges(tasks, kWorthAThread / each + 1, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t last = std::min(product.n, end * kColumns);
        if (in_tiles) {
            columns_in_tiles(operands, reinterpret_cast<const std::int8_t*>(panels), begin * kColumns, last);
        } else if (in_panels) {
            columns_of_panels(operands, panels, begin * kColumns, last);
        } else if (in_fours) {
            columns_in_fours(operands, begin * kColumns, last);
        } else {
            columns_plainly(operands, begin * kColumns, last);
        }
    });
}

}  // namespace headscope::cpu
