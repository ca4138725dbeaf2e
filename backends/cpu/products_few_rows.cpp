// A few rows times a weight matrix that is used once for each: a token of every sentence, in decoding. A library would
// first copy the weights into its own layout, which costs as much as the product. Here both operands are read in place,
// 16 dot products at a time, and a row's bits do not depend on the other rows.
#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/products.h"
#include "support/check.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kColumns = 16;  // of a task

// Where the dot products of a tile begin. Missing columns repeat the last one, and are not stored.
template <int rows, int columns>
struct Operands {
    const float* a[rows];
    const float* b[columns];

    HEADSCOPE_INLINE Operands(const OneProduct& p, std::int64_t row, std::int64_t column) {
        for (int i = 0; i < rows; ++i) {
            a[i] = p.a + (row + i) * p.a_step;
        }
        for (int j = 0; j < columns; ++j) {
            b[j] = p.b + std::min(column + j, p.n - 1) * p.b_step;
        }
    }
};

// partial[i * columns + j] += a[i] * b[j], at 16 places from x, or the last `rest` < 16.
template <bool whole, int rows, int columns, class Lanes>
HEADSCOPE_INLINE void multiply_add(const Operands<rows, columns>& from, std::int64_t x, std::int64_t rest,
                                   Lanes (&partial)[rows * columns]) {
    Lanes a[rows];
    for (int i = 0; i < rows; ++i) {
        a[i].template load<whole>(from.a[i] + x, rest);
    }
    for (int j = 0; j < columns; ++j) {
        Lanes b;
        b.template load<whole>(from.b[j] + x, rest);
        for (int i = 0; i < rows; ++i) {
            partial[i * columns + j].add_product(a[i], b);
        }
    }
}

// sums[i * step + j] = the 16 partial sums of row i and column j.
template <int rows, int columns, class Lanes>
HEADSCOPE_INLINE void dot_products(const OneProduct& p, std::int64_t row, std::int64_t column, int step, Lanes* sums) {
    const Operands<rows, columns> from(p, row, column);
    Lanes partial[rows * columns];
    set_zero(partial);
    std::int64_t x = 0;
    for (; x + kLanes <= p.k; x += kLanes) {
        multiply_add<true>(from, x, kLanes, partial);
    }
    if (x < p.k) {
        multiply_add<false>(from, x, p.k - x, partial);
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            sums[i * step + j] = partial[i * columns + j];
        }
    }
}

// rows * columns = 16 results, computed in parts whose sums fit the processor's registers.
template <class Lanes, int rows, int columns, int part_rows, int part_columns>
HEADSCOPE_INLINE void tile(const OneProduct& p, std::int64_t row, std::int64_t column) {
    static_assert(rows * columns == kLanes);
    Lanes sums[kLanes];
    for (int i = 0; i < rows; i += part_rows) {
        for (int j = 0; j < columns; j += part_columns) {
            dot_products<part_rows, part_columns>(p, row + i, column + j, columns, sums + i * columns + j);
        }
    }
    Lanes totals;
    totals_of(sums, totals);
    float products[kLanes];
    totals *= p.alpha;
    totals.store(products);
    const std::int64_t width = std::min<std::int64_t>(columns, p.n - column);
    for (int i = 0; i < rows; ++i) {
        float* out = p.out + (row + i) * p.out_step + column;
        for (std::int64_t j = 0; j < width; ++j) {
            const float product = products[i * columns + j];
            out[j] = p.beta == 0.0F ? product : product + p.beta * out[j];
        }
    }
}

// Asks for the share `part` of `parts` of the weights of columns [column, column + kColumns): short rows end before the
// processor has noticed that they are read in order.
HEADSCOPE_INLINE void fetch_ahead(const OneProduct& p, std::int64_t column, std::int64_t part, std::int64_t parts) {
    constexpr std::int64_t kLine = 16;  // floats
    const std::int64_t begin = p.k * part / parts / kLine * kLine;
    const std::int64_t end = p.k * (part + 1) / parts / kLine * kLine;
    for (std::int64_t j = column; j < std::min(column + kColumns, p.n); ++j) {
        for (std::int64_t x = begin; x < end; x += kLine) {
            __builtin_prefetch(p.b + j * p.b_step + x);
        }
    }
}

// Columns [begin, end) of every row. `part` is the number of rows and of columns of a part of a tile.
template <class Lanes, int part>
HEADSCOPE_INLINE void columns_of(const OneProduct& p, std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += kColumns) {
        const std::int64_t last = std::min(end, first + kColumns);
        std::int64_t row = 0;
        for (; row + 4 <= p.m; row += 4) {
            fetch_ahead(p, first + kColumns, row / 4, p.m / 4);
            for (std::int64_t column = first; column < last; column += 4) {
                tile<Lanes, 4, 4, part, part>(p, row, column);
            }
        }
        for (; row + 2 <= p.m; row += 2) {
            for (std::int64_t column = first; column < last; column += 8) {
                tile<Lanes, 2, 8, 2, part * part / 2>(p, row, column);
            }
        }
        if (row < p.m) {
            tile<Lanes, 1, 16, 1, part * part>(p, row, first);
        }
    }
}

// With 32 registers of 16 floats, 16 sums stay in registers; with 16 registers of 8, four.
HEADSCOPE_VECTOR_CLONES(void columns(const OneProduct& p, std::int64_t begin, std::int64_t end),
                        { columns_of<Lanes, Lanes::kManyRegisters ? 4 : 2>(p, begin, end); })

}  // namespace

void multiply_few_rows(ThreadPool& pool, const Product& product) {
    HEADSCOPE_CHECK(!product.transpose_a && product.transpose_b && product.compute == Compute::F32,
                    "multiply_few_rows takes float rows of both operands");
    constexpr std::int64_t kWorthAThread = 1 << 17;  // multiplications
    const std::int64_t tasks = (product.n + kColumns - 1) / kColumns;
    const std::int64_t each = product.m * kColumns * product.k;
    for (std::int64_t item = 0; item < product.outer * product.inner; ++item) {
        const OneProduct one = one_of(product, item / product.inner, item % product.inner);
        pool.for_ranges(tasks, kWorthAThread / std::max<std::int64_t>(each, 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                            columns(one, begin * kColumns, std::min(product.n, end * kColumns));
                        });
    }
}

}  // namespace headscope::cpu
