#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

// Below this many multiplications a matrix is not worth a library call.
constexpr std::int64_t kSmall = 64 * 64 * 64;
// Up to this many rows a product is bound by reading b, which the thin way reads once, in place.
constexpr std::int64_t kThinRows = 8;

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

}  // namespace

void multiply(ThreadPool& pool, const Product& product) {
    if (product.m == 0 || product.n == 0 || product.outer * product.inner == 0) {
        return;
    }
    if (product.k == 0) {
        scale_out(product);
        return;
    }
    const bool rounds = product.compute == DType::BF16;
    if (!rounds && product.m <= kThinRows && product.transpose_b && !product.transpose_a) {
        multiply_thin(pool, product);
    } else if (product.m * product.n * product.k <= kSmall) {
        multiply_small(pool, product);
    } else {
        multiply_large(pool, product);
    }
}

}  // namespace headscope::cpu
