#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "backend/ops/matmul.h"
#include "backend/product_ways.h"
#include "backends/vulkan/products/product_plan.h"
#include "backends/vulkan/trials/device_trial.h"
#include "backends/vulkan/trials/noise.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

namespace {

// A product computed by device and host. Shapes: one tile, its edges, several tiles, depths that the staged depth does
// not divide. Operands: transposed and not, with rows that are and are not a multiple of four and of eight elements.
struct Product {
    std::int64_t batch, m, n, k;
    bool transpose_a, transpose_b;
    float alpha, beta;
    bool subnormal_row = false;  // in F16, of the first operand

    Shape shape_a() const { return transpose_a ? Shape{batch, k, m} : Shape{batch, m, k}; }
    Shape shape_b() const { return transpose_b ? Shape{batch, n, k} : Shape{batch, k, n}; }
    Shape shape_out() const { return {batch, m, n}; }
};

constexpr std::array<Product, 9> kProducts{{{1, 64, 64, 32, false, false, 1.0F, 0.0F},
                                            {3, 5, 7, 9, true, false, 1.0F, 0.5F},
                                            {2, 68, 36, 33, true, false, 2.0F, 0.0F},
                                            // from here for every tile: each has its own code to stage operands
                                            {1, 136, 140, 48, false, true, 1.0F, 0.0F, true},
                                            {2, 33, 17, 65, false, false, -0.5F, 1.0F},
                                            {1, 70, 130, 41, true, true, 0.5F, -2.0F},
                                            {1, 140, 136, 200, false, false, 1.0F, 1.0F},
                                            {1, 72, 136, 40, true, false, 1.0F, 0.0F},
                                            {1, 36, 132, 68, true, true, 1.0F, 0.0F}}};
constexpr std::size_t kOfFirstTile = 3;
constexpr std::size_t kWithNarrowOut = 7;  // also with outputs in 16 bits, if operands are: it does not read them

std::vector<float> first_operand(const Product& product) {
    std::vector<float> a = noise(product.shape_a(), 1);
    for (std::int64_t k = 0; product.subnormal_row && k < product.k; ++k) {
        a[static_cast<std::size_t>(product.transpose_a ? k * product.m : k)] *= 0x1p-16F;
    }
    return a;
}

double rounded(float value, bool bf16) {
    return double{bf16 ? from_bf16(to_bf16(value)) : from_f16(to_f16(value))};
}

// An entry in double, and the sum of what it is made of with every sign taken off.
struct Entry {
    double value = 0.0;
    double magnitude = 0.0;
};

Entry entry_of(const Product& product, bool bf16, const std::vector<float>& a, const std::vector<float>& b,
               double before, std::int64_t batch, std::int64_t row, std::int64_t column) {
    Entry entry;
    for (std::int64_t k = 0; k < product.k; ++k) {
        const std::int64_t a_at = product.transpose_a ? k * product.m + row : row * product.k + k;
        const std::int64_t b_at = product.transpose_b ? column * product.k + k : k * product.n + column;
        const double term = rounded(a[static_cast<std::size_t>(batch * product.m * product.k + a_at)], bf16) *
                            rounded(b[static_cast<std::size_t>(batch * product.n * product.k + b_at)], bf16);
        entry.value += double{product.alpha} * term;
        entry.magnitude += std::abs(double{product.alpha} * term);
    }
    return {entry.value + double{product.beta} * before, entry.magnitude + std::abs(double{product.beta} * before)};
}

// A product enqueued on the device.
struct Attempt {
    Product product;
    bool bf16;
    DType stored;
    std::vector<float> a, b, before;
    Matmul op;
};

Attempt enqueue(Backend& backend, const Product& product, bool bf16, DType stored, DType out, float factor) {
    Attempt made{
        product, bf16, stored, first_operand(product), noise(product.shape_b(), 2), noise(product.shape_out(), 3), {}};
    made.op = {.a = make_from_host(backend, product.shape_a(), stored, made.a),
               .b = make_from_host(backend, product.shape_b(), stored, made.b),
               .out = make_from_host(backend, product.shape_out(), out, made.before),
               .transpose_a = product.transpose_a,
               .transpose_b = product.transpose_b,
               .alpha = product.alpha * factor,
               .beta = product.beta,
               .compute = bf16 ? Compute::BF16 : Compute::F16};
    backend.run(made.op);
    return made;
}

// The largest error, relative to an entry's magnitude.
double worst_error(Backend& backend, const Attempt& made) {
    const Product& product = made.product;
    const std::vector<float> got = to_host<float>(backend, made.op.out);
    double worst = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const Entry wanted = entry_of(product, made.bf16, made.a, made.b, double{made.before[i]},
                                      at / (product.m * product.n), at / product.n % product.m, at % product.n);
        const double error = std::abs(double{got[i]} - wanted.value) / wanted.magnitude;
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    return worst;
}

// F32 rounding errors are about 2^-20 here; operands that are not rounded to nearest err by about 2^-13, or 2^-10.
// Outputs in 16 bits are rounded.
double allowed_error(const Attempt& made) {
    const double rounding = made.op.out.dtype == DType::F32 ? 0.0 : made.bf16 ? 0x1p-8 : 0x1p-11;
    return 0x1p-16 + rounding;
}

}  // namespace

std::string matrix_complaint(Backend& backend, const Options& options, const MatrixTile& tile, bool bf16) {
    const std::string way = to_string(matrix_choice(tile));
    if (ProductWays* ways = backend.product_ways(); ways != nullptr) {
        ways->force(way);
    }
    const DType narrow = bf16 ? DType::BF16 : DType::F16;
    const bool stores_narrow = backend.support(OpId::Matmul, narrow).level == SupportLevel::Native;
    std::vector<Attempt> attempts;  // all are enqueued first, so that their kernels are compiled side by side
    const auto attempt = [&](const Product& product, DType stored, DType out) {
        const float factor = options.trial_error.value_or(TrialError{}).factor(tile.side);
        attempts.push_back(enqueue(backend, product, bf16, stored, out, factor));
    };
    for (const DType stored : stores_narrow ? std::vector{DType::F32, narrow} : std::vector{DType::F32}) {
        for (const Product& product : std::span(kProducts).subspan(tile == MatrixTile{} ? 0 : kOfFirstTile)) {
            attempt(product, stored, DType::F32);
        }
    }
    if (stores_narrow) {
        attempt(kProducts[kWithNarrowOut], narrow, narrow);
    }
    for (const Attempt& made : attempts) {
        if (const double error = worst_error(backend, made); error > allowed_error(made)) {
            return fmt::format("a product of {} x {} x {} in {} by {} is off by {:.1e}, tolerance {:.1e}",
                               made.product.m, made.product.n, made.product.k, name_of(made.stored), way, error,
                               allowed_error(made));
        }
    }
    return "";
}

}  // namespace headscope::vulkan
