#include "backends/cpu/products.h"

#include "backends/cpu/panel_products.h"

namespace headscope::cpu {

namespace {

// Up to this many multiplications a matrix is not worth a library call (measured: bench_cpu).
constexpr std::int64_t kSmall = 16 * 16 * 32;
constexpr std::int64_t kSmallBf16 = 32 * 32 * 32;
// Up to this many rows dot products are fastest, and above, up to this many, rows in lanes: a library's copy of the
// weights costs more than it gains. It gains less if the weights have few, long rows (measured: bench_cpu).
constexpr std::int64_t kFewRows = 12;
constexpr std::int64_t kSomeRows = 40;
constexpr std::int64_t kSomeRowsOfFewLong = 160;
constexpr std::int64_t kFew = 256;  // columns

void scale_out(const Product& p) {
    for (std::int64_t outer = 0; outer < p.outer; ++outer) {
        for (std::int64_t inner = 0; inner < p.inner; ++inner) {
            float* out = p.out + outer * p.out_outer_step + inner * p.out_inner_step;
            for (std::int64_t i = 0; i < p.m; ++i) {
                for (std::int64_t j = 0; j < p.n; ++j) {
                    float& value = out[i * p.out_row_step + j];
                    value = p.beta == 0.0F ? 0.0F : p.beta * value;
                }
            }
        }
    }
}

// Libraries require rows that do not overlap.
bool rows_apart(const Product& p) {
    return p.a.row_step >= (p.transpose_a ? p.m : p.k) && p.b.row_step >= (p.transpose_b ? p.k : p.n) &&
           p.out_row_step >= p.n;
}

}  // namespace

OneProduct one_of(const Product& product, std::int64_t outer, std::int64_t inner) {
    return {product.a.data + outer * product.a.outer_step + inner * product.a.inner_step,
            product.a.row_step,
            product.b.data + outer * product.b.outer_step + inner * product.b.inner_step,
            product.b.row_step,
            product.out + outer * product.out_outer_step + inner * product.out_inner_step,
            product.out_row_step,
            product.m,
            product.n,
            product.k,
            product.alpha,
            product.beta};
}

void multiply(ThreadPool& pool, const Product& product) {
    if (product.m == 0 || product.n == 0 || product.outer * product.inner == 0) {
        return;
    }
    if (product.k == 0) {
        scale_out(product);
        return;
    }
    const bool rounds = product.compute == Compute::BF16;
    const bool weights = product.outer * product.inner == 1 && !product.transpose_a && product.transpose_b;
    const std::int64_t some_rows = product.n <= kFew && product.k > product.n ? kSomeRowsOfFewLong : kSomeRows;
    if (weights && !rounds && product.m <= kFewRows) {
        multiply_few_rows(pool, product);
    } else if (weights && !rounds && product.m <= some_rows) {
        multiply_some_rows(pool, product);
    } else if (product.m * product.n * product.k <= (rounds ? kSmallBf16 : kSmall) || !rows_apart(product)) {
        multiply_small(pool, product);
    } else {
        multiply_large(pool, product);
    }
}

void multiply_stored(ThreadPool& pool, const StoredProduct& product) {
    if (product.m == 0 || product.n == 0) {
        return;
    }
    const bool in_panels = product.b.layout == WeightLayout::Panels;
    if (product.b.dtype == DType::I8) {
        in_panels ? multiply_panels_i8(pool, product) : multiply_i8(pool, product);
    } else {
        (in_panels ? multiply_panels : multiply_halves)(pool, product);
    }
}

}  // namespace headscope::cpu
