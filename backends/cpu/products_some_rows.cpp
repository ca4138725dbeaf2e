// Some dozens of rows times a weight matrix: a token of every sentence of a batch, in decoding. Too many for separate
// dot products, too few to pay for a library's copy of the weights. 16 rows are in the lanes of a vector; the weights
// are read in place, one number for all lanes.
#include <algorithm>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/products.h"
#include "backends/cpu/row_panels.h"
#include "support/check.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kColumns = 16;  // of a task

// sums[i * kColumns + j] = panel i times column j. Missing columns repeat the last one. `fetch` prefetches the weights
// of the next columns: short rows end before the hardware prefetcher starts.
template <int panels, int columns, class Lanes>
HEADSCOPE_INLINE void tile(const OneProduct& p, const float* a, std::int64_t column, bool fetch, Lanes* to) {
    const float* b[columns];
    const float* next[columns];
    for (int j = 0; j < columns; ++j) {
        b[j] = p.b + std::min(column + j, p.n - 1) * p.b_step;
        next[j] = p.b + std::min(column + kColumns + j, p.n - 1) * p.b_step;
    }
    Lanes sums[panels * columns];
    set_zero(sums);
    const auto multiply_add = [&](std::int64_t x) __attribute__((always_inline)) {
        Lanes values[panels];
        for (int i = 0; i < panels; ++i) {
            values[i].load(a + (i * p.k + x) * kPanelRows);
        }
        for (int j = 0; j < columns; ++j) {
            const float weight = b[j][x];
            for (int i = 0; i < panels; ++i) {
                sums[i * columns + j].add_product(weight, values[i]);
            }
        }
    };
    constexpr std::int64_t kLine = 16;  // floats
    std::int64_t x = 0;
    for (; x + kLine <= p.k; x += kLine) {
        for (int j = 0; fetch && j < columns; ++j) {
            __builtin_prefetch(next[j] + x);
        }
        for (std::int64_t i = 0; i < kLine; ++i) {
            multiply_add(x + i);
        }
    }
    for (; x < p.k; ++x) {
        multiply_add(x);
    }
    for (int i = 0; i < panels; ++i) {
        for (int j = 0; j < columns; ++j) {
            to[i * kColumns + j] = sums[i * columns + j];
        }
    }
}

// Stores `columns` of out from row on; lane i of sums[j] is row i and column j.
template <class Lanes>
HEADSCOPE_INLINE void store_panel(const OneProduct& p, std::int64_t row, std::int64_t column, Lanes (&sums)[kLanes]) {
    transpose(sums);
    const std::int64_t rows = std::min(kPanelRows, p.m - row);
    const std::int64_t width = std::min(kColumns, p.n - column);
    for (std::int64_t i = 0; i < rows; ++i) {
        sums[i] *= p.alpha;
        float* out = p.out + (row + i) * p.out_step + column;
        if (width == kColumns && p.beta == 0.0F) {
            sums[i].store(out);
            continue;
        }
        float products[kLanes];
        sums[i].store(products);
        for (std::int64_t j = 0; j < width; ++j) {
            out[j] = p.beta == 0.0F ? products[j] : products[j] + p.beta * out[j];
        }
    }
}

template <class Lanes, int panels, int columns>
HEADSCOPE_INLINE void block(const OneProduct& p, std::int64_t row, std::int64_t column) {
    Lanes sums[panels][kLanes];
    for (std::int64_t j = 0; j < kColumns; j += columns) {
        tile<panels, columns>(p, p.a + row * p.k, column + j, row == 0, sums[0] + j);
    }
    for (int i = 0; i < panels; ++i) {
        store_panel(p, row + i * kPanelRows, column, sums[i]);
    }
}

// 32 registers of 16 floats hold two panels' sums of eight columns, 16 registers of 8 one panel's of four.
template <class Lanes>
HEADSCOPE_INLINE void columns_of(const OneProduct& p, std::int64_t begin, std::int64_t end) {
    constexpr int kAtOnce = Lanes::kManyRegisters ? 8 : 4;
    for (std::int64_t column = begin; column < end; column += kColumns) {
        std::int64_t row = 0;
        for (; Lanes::kManyRegisters && row + kPanelRows < p.m; row += 2 * kPanelRows) {
            block<Lanes, 2, kAtOnce>(p, row, column);
        }
        for (; row < p.m; row += kPanelRows) {
            block<Lanes, 1, kAtOnce>(p, row, column);
        }
    }
}

HEADSCOPE_VECTOR_CLONES(void columns(const OneProduct& p, std::int64_t begin, std::int64_t end),
                        { columns_of<Lanes>(p, begin, end); })

}  // namespace

void multiply_some_rows(ThreadPool& pool, const Product& product) {
    HEADSCOPE_CHECK(!product.transpose_a && product.transpose_b && product.compute == Compute::F32 &&
                        product.outer * product.inner == 1,
                    "multiply_some_rows takes float rows of both operands, and one product");
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    thread_local std::vector<float> panels;          // kept, so that each step reuses the same pages
    panels.resize(static_cast<std::size_t>(panels_of(product.m) * product.k * kPanelRows));
    pack_row_panels(product.a.data, product.a.row_step, product.m, product.k, panels.data());
    OneProduct in_panels = one_of(product, 0, 0);
    in_panels.a = panels.data();  // [.., k, 16]
    in_panels.a_step = kPanelRows;
    const std::int64_t tasks = (product.n + kColumns - 1) / kColumns;
    const std::int64_t each = std::max<std::int64_t>(product.m * kColumns * product.k, 1);
    pool.for_ranges(tasks, kWorthAThread / each + 1, [&](std::int64_t begin, std::int64_t end) {
        columns(in_panels, begin * kColumns, std::min(product.n, end * kColumns));
    });
}

}  // namespace headscope::cpu
