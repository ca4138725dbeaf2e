// Few rows times b transposed (decoding): every row of b is read once, straight from where it lies.
#include <cstring>

#include "backends/cpu/clones.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWidth = 16;
using Lanes = float __attribute__((vector_size(kWidth * sizeof(float))));

struct Rows {
    const float* a;  // [rows, k]
    std::int64_t a_step;
    const float* b;  // [n, k]
    std::int64_t b_step;
    float* out;  // [rows, n]
    std::int64_t out_step;
    std::int64_t k;
    float alpha, beta;
};

inline __attribute__((always_inline)) void load(const float* from, Lanes& to) {
    std::memcpy(&to, from, sizeof(to));
}

inline __attribute__((always_inline)) float total(const Lanes& lanes) {
    float half[8];
    for (int i = 0; i < 8; ++i) {
        half[i] = lanes[i] + lanes[i + 8];
    }
    return ((half[0] + half[4]) + (half[2] + half[6])) + ((half[1] + half[5]) + (half[3] + half[7]));
}

// `rows` rows of a times `columns` rows of b.
template <int rows, int columns>
inline __attribute__((always_inline)) void block(const Rows& r, std::int64_t row, std::int64_t column) {
    Lanes sums[rows][columns] = {};
    float rest[rows][columns] = {};
    std::int64_t p = 0;
    for (; p + kWidth <= r.k; p += kWidth) {
        Lanes b[columns];
        for (int j = 0; j < columns; ++j) {
            load(r.b + (column + j) * r.b_step + p, b[j]);
        }
        for (int i = 0; i < rows; ++i) {
            Lanes a;
            load(r.a + (row + i) * r.a_step + p, a);
            for (int j = 0; j < columns; ++j) {
                sums[i][j] += a * b[j];
            }
        }
    }
    for (; p < r.k; ++p) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                rest[i][j] += r.a[(row + i) * r.a_step + p] * r.b[(column + j) * r.b_step + p];
            }
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            float& out = r.out[(row + i) * r.out_step + column + j];
            const float product = r.alpha * (total(sums[i][j]) + rest[i][j]);
            out = r.beta == 0.0F ? product : product + r.beta * out;
        }
    }
}

template <int columns>
inline __attribute__((always_inline)) void all_rows(const Rows& r, std::int64_t m, std::int64_t column) {
    std::int64_t row = 0;
    for (; row + 4 <= m; row += 4) {
        block<4, columns>(r, row, column);
    }
    for (; row < m; ++row) {
        block<1, columns>(r, row, column);
    }
}

HEADSCOPE_CLONES void multiply_rows(const Rows& r, std::int64_t m, std::int64_t begin, std::int64_t end) {
    std::int64_t column = begin;
    for (; column + 4 <= end; column += 4) {
        all_rows<4>(r, m, column);
    }
    for (; column < end; ++column) {
        all_rows<1>(r, m, column);
    }
}

}  // namespace

void multiply_thin(ThreadPool& pool, const Product& p) {
    constexpr std::int64_t kWorthAThread = 1 << 16;  // elements of b
    const std::int64_t columns = p.outer * p.inner * p.n;
    pool.for_ranges(columns, kWorthAThread / p.k, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t batch = begin / p.n;
            const std::int64_t outer = batch / p.inner;
            const std::int64_t inner = batch % p.inner;
            const std::int64_t stop = std::min(end, (batch + 1) * p.n);
            const Rows rows{p.a.data + outer * p.a.outer_step + inner * p.a.inner_step,
                            p.a.row_step,
                            p.b.data + outer * p.b.outer_step + inner * p.b.inner_step,
                            p.b.row_step,
                            p.out + outer * p.out_outer_step + inner * p.out_inner_step,
                            p.out_row_step,
                            p.k,
                            p.alpha,
                            p.beta};
            multiply_rows(rows, p.m, begin - batch * p.n, stop - batch * p.n);
            begin = stop;
        }
    });
}

}  // namespace headscope::cpu
