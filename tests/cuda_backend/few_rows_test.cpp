// Which products of few rows have kernels of their own, and how those are launched.
#include "backends/cuda/few_rows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/ops/matmul.h"
#include "backends/cuda/cuda_backend.h"
#include "emulator.h"
#include "tests/support/variable.h"

using namespace headscope;
using namespace headscope::cuda;
using cuda_emulation::blas_products;
using cuda_emulation::lt_heuristics;

namespace {

class Multiplier {
public:
    explicit Multiplier(const char* disabled = "") : backend_(0, {.disabled = disabling(disabled)}) {}

    // Multiples of 1/4 that every dtype has exactly.
    Tensor make(const Shape& shape, DType dtype) {
        std::vector<double> values(static_cast<std::size_t>(shape.elements()));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>(i * 7 % 11) / 4.0 - 1.0;
        }
        return make_from_host(backend_, shape, dtype, values);
    }
    Matmul product(std::int64_t rows, std::int64_t outputs, std::int64_t terms, DType dtype) {
        return {.a = make({rows, terms}, dtype),
                .b = make({outputs, terms}, dtype),
                .out = make({rows, outputs}, DType::F32),
                .transpose_b = true};
    }
    // Whether the product has a kernel of its own. Its results are checked if so.
    bool takes(const Matmul& op) {
        const int before = blas_products().asked;
        backend_.run(op);
        const bool taken = blas_products().asked == before;
        if (taken) {
            CHECK(to_host<double>(backend_, op.out) == expected(op));
        }
        return taken;
    }
    CudaBackend& backend() { return backend_; }

private:
    static DisabledKernels disabling(const char* words) {
        Settings settings;
        settings.set(kDisableKernels, words);
        return DisabledKernels::from(settings);
    }
    std::vector<double> expected(const Matmul& op) {
        const std::vector<double> a = to_host<double>(backend_, op.a);
        const std::vector<double> b = to_host<double>(backend_, op.b);
        const auto terms = static_cast<std::size_t>(op.a.dim(1));
        std::vector<double> sums;
        for (std::size_t row = 0; row < a.size(); row += terms) {
            for (std::size_t output = 0; output < b.size(); output += terms) {
                double sum = 0.0;
                for (std::size_t i = 0; i < terms; ++i) {
                    sum += a[row + i] * b[output + i];
                }
                sums.push_back(sum);
            }
        }
        return sums;
    }

    CudaBackend backend_;
};

bool takes(std::int64_t rows, std::int64_t terms, DType dtype, const char* disabled = "") {
    Multiplier multiplier(disabled);
    return multiplier.takes(multiplier.product(rows, 9, terms, dtype));
}

}  // namespace

TEST_CASE("few rows times weights have kernels of their own", "[few_rows]") {
    for (const DType dtype : {DType::F16, DType::BF16}) {
        CHECK(takes(1, 8, dtype));
        CHECK(takes(16, 2056, dtype));
        CHECK_FALSE(takes(17, 8, dtype));
        CHECK_FALSE(takes(1, 12, dtype));  // rows that do not begin at multiples of 16 bytes
        CHECK_FALSE(takes(1, kMostFewTerms + 8, dtype));
        CHECK_FALSE(takes(1, 8, dtype, "few_rows"));
        CHECK(takes(1, 8, dtype, "few_rows_f32"));
    }
    for (const std::int64_t rows : {1, 2, 3, 4}) {
        CHECK(takes(rows, 4, DType::F32));
        CHECK(takes(rows, 1028, DType::F32));
    }
    CHECK_FALSE(takes(5, 4, DType::F32));
    CHECK_FALSE(takes(1, 6, DType::F32));
    CHECK_FALSE(takes(1, 4, DType::F32, "few_rows_f32"));
}

TEST_CASE("older cards multiply few rows of F32 alone", "[few_rows]") {
    for (const char* sm : {"60", "75"}) {
        const Variable older("HEADSCOPE_EMULATION_SM", std::string(sm));
        CHECK(takes(2, 8, DType::F32));
        CHECK_FALSE(takes(2, 8, DType::F16));
    }
    const Variable ptx("HEADSCOPE_EMULATION_PTX", std::string("75"));
    CHECK_FALSE(takes(2, 8, DType::F16));
}

TEST_CASE("other products of few rows remain cuBLAS's", "[few_rows]") {
    for (const DType dtype : {DType::F32, DType::F16}) {
        Multiplier multiplier;
        const Matmul op = multiplier.product(3, 8, 8, dtype);
        REQUIRE(multiplier.takes(op));
        Matmul other = op;
        other.transpose_b = false;
        CHECK_FALSE(multiplier.takes(other));
        other = op;
        other.a = multiplier.make({8, 3}, dtype);
        other.transpose_a = true;
        CHECK_FALSE(multiplier.takes(other));
        other = op;
        other.beta = 1.0F;
        CHECK_FALSE(multiplier.takes(other));
        other = op;
        other.a = multiplier.make({25}, dtype).narrow(0, 1, 24).reshape({3, 8});
        CHECK_FALSE(multiplier.takes(other));
        other = op;
        other.b = multiplier.make({8, 10}, dtype).narrow(1, 0, 8);
        CHECK_FALSE(multiplier.takes(other));
    }
    Multiplier multiplier;
    Matmul rounded = multiplier.product(3, 8, 8, DType::F32);
    rounded.compute = Compute::TF32;
    CHECK_FALSE(multiplier.takes(rounded));
    rounded.compute = Compute::F16;  // of operands that are rounded first
    CHECK(multiplier.takes(rounded));
    Matmul narrow = multiplier.product(3, 8, 8, DType::BF16);
    narrow.compute = Compute::TF32;  // ignored in 16 bits
    CHECK(multiplier.takes(narrow));
}

TEST_CASE("rows may lie apart", "[few_rows]") {
    for (const DType dtype : {DType::F32, DType::BF16}) {
        Multiplier multiplier;
        Matmul op = multiplier.product(4, 9, 16, dtype);
        op.a = multiplier.make({4, 40}, dtype).narrow(1, 8, 16);
        op.b = multiplier.make({9, 24}, dtype).narrow(1, 8, 16);
        op.out = multiplier.make({4, 30}, DType::F32).narrow(1, 1, 9);
        CHECK(multiplier.takes(op));
    }
}

TEST_CASE("blocks have eight outputs, or 16 if those are enough for every multiprocessor", "[few_rows]") {
    Multiplier multiplier;
    for (const auto& [outputs, blocks] : {std::pair{191, 24U}, {192, 12U}, {193, 13U}}) {
        CHECK(multiplier.takes(multiplier.product(2, outputs, 8, DType::F16)));
        CHECK(cuda_emulation::last_launch().grid.x == blocks);
    }
}

TEST_CASE("a layer of few rows needs no algorithm of cuBLASLt, and ReLU keeps NaN", "[few_rows]") {
    for (const DType dtype : {DType::F32, DType::F16}) {
        Multiplier multiplier;
        constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
        const Linear op{
            .x = make_from_host(multiplier.backend(), {2, 8}, dtype, std::vector<double>(16, 1.0)),
            .weight = make_from_host(multiplier.backend(), {3, 8}, dtype, std::vector<double>(24, -1.0)),
            .bias = make_from_host(multiplier.backend(), {3}, DType::F32, std::vector<double>{7.0, 9.5, kNaN}),
            .y = multiplier.make({2, 3}, dtype),
            .activation = Activation::Relu};
        const int before = lt_heuristics().asked;
        multiplier.backend().run(op);
        CHECK(lt_heuristics().asked == before);
        const std::vector<double> y = to_host<double>(multiplier.backend(), op.y);
        CHECK(y[0] == 0.0);
        CHECK(y[4] == 1.5);
        CHECK(std::isnan(y[2]));
    }
}
