// I8 weights in panels. The columns of W are in the lanes of a vector, four numbers of each in a lane, and four numbers
// of a row of a are broadcast to all lanes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/memory/view.h"
#include "backends/cpu/panel_products_i8.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headscope::cpu {

namespace {

template <class Lanes>
HEADSCOPE_INLINE void multiply_plainly(const I8PanelPart& p, std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
        const std::int8_t* a = p.a.row(row);
        std::int32_t sums[kPanelColumns] = {};
        for (std::int64_t x = 0; x < p.product.k; x += kUnit) {
            const std::uint8_t* units = p.panel + x * p.width;
            for (std::int64_t j = 0; j < p.width; ++j) {
                for (std::int64_t i = 0; i < kUnit; ++i) {
                    sums[j] += static_cast<std::int32_t>(a[x + i]) *
                               (static_cast<std::int32_t>(units[j * kUnit + i]) - kExcess);
                }
            }
        }
        float whole[kPanelColumns];
        std::copy_n(sums, kPanelColumns, whole);
        for (std::int64_t lane = 0; lane < p.width; lane += kLanes) {
            Lanes own;
            own.load(whole + lane);
            store_sums(p, row, lane, own);
        }
    }
}

HEADSCOPE_VECTOR_CLONES(void plainly(const I8PanelPart& p, std::int64_t first, std::int64_t count),
                        { multiply_plainly<Lanes>(p, first, count); })

#if defined(__x86_64__)

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
        const std::int32_t excess = kExcess * p.a.sums[static_cast<std::size_t>(row + i)];
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
            WideLanes own;
            WideLanes::Ints products;
            std::memcpy(&products, &sums[2 * i + j], sizeof(products));
            own.part[0] = __builtin_convertvector(products - excess, WideLanes::Part);
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

#endif

using Tiles = void (*)(const I8PanelPart& p, std::int64_t first, std::int64_t count);

// For whole panels.
Tiles tiles_for(IntegerWay best) {
#if defined(__x86_64__)
    if (best >= IntegerWay::Fours && has_vnni()) {
        return with_vnni;
    }
    if (best >= IntegerWay::Pairs && has_avx2()) {
        return multiply_panel_avx2;
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
            (width == kPanelColumns ? whole : Tiles{plainly})(
                {.product = product,
                 .a = rows,
                 .panel = panel,
                 .next = more ? panel + kPanelColumns * product.k : nullptr,
                 .column = column,
                 .width = width},
                row, count);
        });
}

}  // namespace headscope::cpu
