// Many small matrices (attention): b is repacked into panels of 16 columns, over which blocks of rows run in registers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/products.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWidth = kLanes;  // columns of a panel
constexpr std::int64_t kRows = 6;        // of a block: 6 x 2 sums, 2 of b and 1 of a fit 16 registers

struct Scratch {
    std::vector<float> a;  // [m, k] if a is transposed or rounded
    std::vector<float> b;  // [panels, k, kWidth], the last panel padded with zeros
};

HEADSCOPE_CLONES void pack_panels(const float* b, std::int64_t step, bool transposed, std::int64_t k, std::int64_t n,
                                  float* to) {
    for (std::int64_t column = 0; column < n; column += kWidth, to += k * kWidth) {
        const std::int64_t width = std::min(kWidth, n - column);
        if (transposed) {
            if (width < kWidth) {
                std::memset(to, 0, static_cast<std::size_t>(k * kWidth) * sizeof(float));
            }
            for (std::int64_t j = 0; j < width; ++j) {
                const float* row = b + (column + j) * step;
                for (std::int64_t p = 0; p < k; ++p) {
                    to[p * kWidth + j] = row[p];
                }
            }
        } else {
            for (std::int64_t p = 0; p < k; ++p) {
                const float* row = b + p * step + column;
                for (std::int64_t j = 0; j < kWidth; ++j) {
                    to[p * kWidth + j] = j < width ? row[j] : 0.0F;
                }
            }
        }
    }
}

HEADSCOPE_CLONES void transpose(const float* a, std::int64_t step, std::int64_t m, std::int64_t k, float* to) {
    for (std::int64_t p = 0; p < k; ++p) {
        for (std::int64_t i = 0; i < m; ++i) {
            to[i * k + p] = a[p * step + i];
        }
    }
}

HEADSCOPE_CLONES void copy_rows(const float* a, std::int64_t step, std::int64_t m, std::int64_t k, float* to) {
    for (std::int64_t i = 0; i < m; ++i) {
        std::copy_n(a + i * step, k, to + i * k);
    }
}

HEADSCOPE_CLONES void round_all(float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = bf16_rounded(values[i]);
    }
}

struct Tile {
    const float* a;  // [rows, k]
    std::int64_t a_step;
    const float* panels;
    std::int64_t k, n;
    float* out;
    std::int64_t out_step;
    float alpha, beta;
};

// Stores out[i, 0..width) from the sums of one row and one panel.
template <class Lanes>
HEADSCOPE_INLINE void store(const Tile& t, std::int64_t row, std::int64_t column, Lanes& sums) {
    float* out = t.out + row * t.out_step + column;
    const std::int64_t width = std::min(kWidth, t.n - column);
    sums *= t.alpha;
    if (width == kWidth && t.beta == 0.0F) {
        sums.store(out);
        return;
    }
    float products[kLanes];
    sums.store(products);
    for (std::int64_t j = 0; j < width; ++j) {
        out[j] = t.beta == 0.0F ? products[j] : products[j] + t.beta * out[j];
    }
}

template <class Lanes, int rows>
HEADSCOPE_INLINE void block(const Tile& t, std::int64_t row) {
    for (std::int64_t column = 0; column < t.n; column += kWidth) {
        const float* panel = t.panels + column * t.k;
        Lanes sums[rows];
        set_zero(sums);
        for (std::int64_t p = 0; p < t.k; ++p) {
            Lanes b;
            b.load(panel + p * kWidth);
#pragma GCC unroll 6
            for (int i = 0; i < rows; ++i) {
                sums[i].add_product(t.a[(row + i) * t.a_step + p], b);
            }
        }
#pragma GCC unroll 6
        for (int i = 0; i < rows; ++i) {
            store(t, row + i, column, sums[i]);
        }
    }
}

template <class Lanes>
HEADSCOPE_INLINE void multiply_rows(const Tile& t, std::int64_t m) {
    std::int64_t row = 0;
    for (; row + kRows <= m; row += kRows) {
        block<Lanes, kRows>(t, row);
    }
    for (; row + 2 <= m; row += 2) {
        block<Lanes, 2>(t, row);
    }
    if (row < m) {
        block<Lanes, 1>(t, row);
    }
}

HEADSCOPE_VECTOR_CLONES(void multiply_panels(const Tile& t, std::int64_t m), { multiply_rows<Lanes>(t, m); })

void multiply_one(const Product& p, std::int64_t outer, std::int64_t inner, Scratch& scratch) {
    const float* a = p.a.data + outer * p.a.outer_step + inner * p.a.inner_step;
    const float* b = p.b.data + outer * p.b.outer_step + inner * p.b.inner_step;
    std::int64_t a_step = p.a.row_step;
    const bool rounds = p.compute == Compute::BF16;
    if (p.transpose_a || rounds) {
        scratch.a.resize(static_cast<std::size_t>(p.m * p.k));
        (p.transpose_a ? transpose : copy_rows)(a, p.a.row_step, p.m, p.k, scratch.a.data());
        a = scratch.a.data();
        a_step = p.k;
    }
    const std::int64_t panels = (p.n + kWidth - 1) / kWidth;
    scratch.b.resize(static_cast<std::size_t>(panels * p.k * kWidth));
    pack_panels(b, p.b.row_step, p.transpose_b, p.k, p.n, scratch.b.data());
    if (rounds) {
        round_all(scratch.a.data(), scratch.a.size());
        round_all(scratch.b.data(), scratch.b.size());
    }
    float* out = p.out + outer * p.out_outer_step + inner * p.out_inner_step;
    multiply_panels({a, a_step, scratch.b.data(), p.k, p.n, out, p.out_row_step, p.alpha, p.beta}, p.m);
}

}  // namespace

void multiply_alone(const Product& product) {
    thread_local Scratch scratch;
    multiply_one(product, 0, 0, scratch);
}

void multiply_small(ThreadPool& pool, const Product& product) {
    constexpr std::int64_t kWorthAThread = 1 << 16;  // multiplications
    const std::int64_t each = std::max<std::int64_t>(1, product.m * product.n * product.k);
    pool.for_ranges(product.outer * product.inner, kWorthAThread / each, [&](std::int64_t begin, std::int64_t end) {
        Scratch scratch;
        for (std::int64_t index = begin; index < end; ++index) {
            multiply_one(product, index / product.inner, index % product.inner, scratch);
        }
    });
}

}  // namespace headscope::cpu
