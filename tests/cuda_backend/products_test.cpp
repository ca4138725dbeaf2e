// How products become cuBLAS calls.
#include "backends/cuda/products.h"

#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "backends/cuda/cuda_backend.h"

using namespace headscope;
using namespace headscope::cuda;

namespace {

CudaBackend& backend() {
    static CudaBackend the_backend(0, {});
    return the_backend;
}

Tensor tensor(const Shape& shape) {
    return backend().empty(shape, DType::F32);
}

}  // namespace

TEST_CASE("a plain product is one call if its batch levels are evenly spaced", "[products]") {
    const Matmul plain{.a = tensor({6, 5}), .b = tensor({7, 5}), .out = tensor({6, 7}), .transpose_b = true};
    const ProductCall expected{.m = 6, .n = 7, .k = 5, .a_row = 5, .b_row = 5, .out_row = 7};
    CHECK(product_calls(plain) == std::vector{expected});

    const Matmul batched{.a = tensor({2, 3, 6, 5}), .b = tensor({2, 3, 5, 7}), .out = tensor({2, 3, 6, 7})};
    const std::vector<ProductCall> calls = product_calls(batched);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].count == 6);
    CHECK(calls[0].a_stride == 30);
    CHECK(calls[0].b_stride == 35);
    CHECK(calls[0].out_stride == 42);
}

TEST_CASE("adjacent heads need one call for each entry of the shorter level", "[products]") {
    // [batch, length, heads * depth] as [batch, heads, length, depth]
    const auto heads = [](std::int64_t batch, std::int64_t count, std::int64_t length, std::int64_t depth) {
        return tensor({batch, length, count * depth}).heads(count);
    };
    const Matmul scores{
        .a = heads(5, 2, 9, 4), .b = heads(5, 2, 11, 4), .out = tensor({5, 2, 9, 11}), .transpose_b = true};
    const std::vector<ProductCall> calls = product_calls(scores);
    REQUIRE(calls.size() == 2);  // two heads of five sentences
    CHECK(calls[0].count == 5);
    CHECK(calls[1].a == 4);
    CHECK(calls[1].b == 4);
    CHECK(calls[1].out == 9 * 11);
    CHECK(calls[0].a_stride == 9 * 8);
    CHECK(calls[0].a_row == 8);
    CHECK(product_calls(
              {.a = heads(2, 5, 9, 4), .b = heads(2, 5, 11, 4), .out = tensor({2, 5, 9, 11}), .transpose_b = true})
              .size() == 2);  // two sentences of five heads
}

TEST_CASE("empty outputs need no call, and single rows get a stride that cuBLAS accepts", "[products]") {
    CHECK(product_calls({.a = tensor({0, 5}), .b = tensor({5, 7}), .out = tensor({0, 7})}).empty());
    CHECK(product_calls({.a = tensor({0, 2, 3}), .b = tensor({0, 3, 4}), .out = tensor({0, 2, 4})}).empty());
    Tensor row = tensor({1, 5});
    row.strides[0] = 0;
    const std::vector<ProductCall> calls = product_calls({.a = row, .b = tensor({5, 7}), .out = tensor({1, 7})});
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].a_row == 5);
}
