// What happens if cuBLAS rejects a product of 16-bit operands.
#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "linear_machine.h"
#include "tests/house/environment.h"

using namespace headscope;
using namespace headscope::cuda_tests;
using cuda_emulation::blas_products;

namespace {

// While it lives cuBLAS computes `before` products of 16-bit operands and rejects later ones.
struct NoProducts {
    explicit NoProducts(cublasStatus_t answer, int before = 0) {
        blas_products().half = answer;
        blas_products().half_before = before;
    }
    NoProducts(const NoProducts&) = delete;
    NoProducts& operator=(const NoProducts&) = delete;
    ~NoProducts() { blas_products().half = CUBLAS_STATUS_SUCCESS; }
};

Matmul product(const Machine& machine, std::int64_t rows, DType dtype, DType out) {
    return {.a = machine.make({rows, 8}, dtype),
            .b = machine.make({8, 4}, dtype),
            .out = machine.make({rows, 4}, out),
            .alpha = 0.5F,
            .beta = 2.0F};
}

// How many products cuBLAS is asked for while `op` runs.
int asked_for(const Machine& machine, const Matmul& op) {
    const int before = blas_products().asked;
    machine.backend->run(op);
    return blas_products().asked - before;
}

}  // namespace

TEST_CASE("a 16-bit product that cuBLAS rejects is computed in F32 from then on", "[products]") {
    const Environment hopper("HEADSCOPE_EMULATION_SM", "90");  // has BF16 products
    const Machine machine;
    std::int64_t rows = 0;
    for (const cublasStatus_t refusal : kRefusals) {
        for (const DType dtype : {DType::F16, DType::BF16}) {
            for (const DType out : {dtype, DType::F32}) {
                INFO(refusal << " of " << name_of(dtype) << " to " << name_of(out));
                const Matmul op = product(machine, ++rows, dtype, out);
                {
                    const NoProducts none(refusal);
                    CHECK(asked_for(machine, op) == 2);
                }
                CHECK(machine.first(op.out) == 6.0);
                const NoProducts ever(CUBLAS_STATUS_EXECUTION_FAILED);
                CHECK(asked_for(machine, op) == 1);
                CHECK(machine.first(op.out) == 16.0);
            }
        }
    }
}

TEST_CASE("other products still use cuBLAS", "[products]") {
    const Environment hopper("HEADSCOPE_EMULATION_SM", "90");
    const Machine machine;
    const Matmul op = product(machine, 40, DType::F16, DType::F32);
    {
        const NoProducts none(CUBLAS_STATUS_NOT_SUPPORTED);
        CHECK(asked_for(machine, op) == 2);
    }
    const auto in_f32 = [&](const Matmul& other) {
        const NoProducts none(CUBLAS_STATUS_NOT_SUPPORTED);
        return asked_for(machine, other) == 1;
    };
    CHECK(in_f32(op));
    CHECK(in_f32(product(machine, 40, DType::F16, DType::F32)));  // at another address
    CHECK_FALSE(in_f32(product(machine, 41, DType::F16, DType::F32)));
    CHECK_FALSE(in_f32(product(machine, 40, DType::F16, DType::F16)));
    CHECK_FALSE(in_f32(product(machine, 40, DType::BF16, DType::F32)));
    Matmul moved = op;
    moved.a = machine.make({41, 8}, DType::F16).narrow(0, 1, 40);
    CHECK_FALSE(in_f32(moved));
    Matmul transposed = op;
    transposed.b = machine.make({4, 8}, DType::F16);
    transposed.transpose_b = true;
    CHECK_FALSE(in_f32(transposed));
}

TEST_CASE("a product that has begun is not repeated, and an F32 product has no fallback", "[products]") {
    const Machine machine;
    const auto heads = [&](std::int64_t depth) { return machine.make({5, 9, 2 * depth}, DType::F16).heads(2); };
    const Matmul two_calls{
        .a = heads(4), .b = heads(4), .out = machine.make({5, 2, 9, 9}, DType::F16), .transpose_b = true};
    {
        const NoProducts none(CUBLAS_STATUS_NOT_SUPPORTED, 1);
        CHECK_THROWS_AS(machine.backend->run(two_calls), Error);
    }
    CHECK(asked_for(machine, two_calls) == 2);
    for (const cublasStatus_t fault : {CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS_STATUS_INTERNAL_ERROR}) {
        const NoProducts none(fault);
        CHECK_THROWS_AS(machine.backend->run(two_calls), Error);
    }
    Matmul not_a_product = product(machine, 50, DType::F32, DType::F32);
    not_a_product.out = machine.make({50, 4}, DType::F16);
    CHECK_THROWS_AS(machine.backend->run(not_a_product), Error);
}

TEST_CASE("a product has the same bits in a graph as before, whatever cuBLAS returns there", "[products]") {
    const Machine machine;
    const Matmul op = product(machine, 60, DType::F16, DType::F32);
    int calls = 0;
    const int before = blas_products().asked;
    for (const double expected : {6.0, 16.0, 36.0}) {
        machine.backend->replay("refused before", [&] {
            const NoProducts none(++calls == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
            machine.backend->run(op);
        });
        CHECK(machine.first(op.out) == expected);
    }
    CHECK(calls == 2);
    CHECK(blas_products().asked == before + 3);

    // One that was multiplied in 16 bits still is.
    const Matmul other = product(machine, 61, DType::F16, DType::F32);
    calls = 0;
    const auto run_other = [&] {
        machine.backend->replay("refused in the graph", [&] {
            const NoProducts none(++calls == 2 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
            machine.backend->run(other);
        });
    };
    run_other();
    run_other();
    CHECK_THAT(machine.warnings.text(), Catch::Contains("run one by one"));
    CHECK(calls == 3);
    CHECK(machine.first(other.out) == 16.0);
    const NoProducts none(CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK_THROWS_AS(machine.backend->run(other), Error);
}
