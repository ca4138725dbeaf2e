#include "tensor/tensor.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using namespace headscope;

namespace {

class NoMemory final : public Buffer {
public:
    std::size_t bytes() const override { return 1U << 20U; }
    Address address() const override { return {}; }
};

Tensor tensor_of(const Shape& shape) {
    return make_tensor(std::make_shared<NoMemory>(), shape, DType::F32);
}

std::int64_t place(const Tensor& tensor, const std::vector<std::int64_t>& index) {
    std::int64_t at = tensor.offset;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
        at += index[dim] * tensor.stride(static_cast<int>(dim));
    }
    return at;
}

}  // namespace

TEST_CASE("shapes count from both ends", "[shape]") {
    const Shape shape{2, 8, 33, 64};
    CHECK(shape.rank() == 4);
    CHECK(shape[-1] == 64);
    CHECK(shape[1] == 8);
    CHECK(shape.elements() == 2 * 8 * 33 * 64);
    CHECK(shape.to_string() == "[2, 8, 33, 64]");
    CHECK(Shape{}.elements() == 1);
    CHECK(Shape{3, 0}.elements() == 0);
    CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
    CHECK_THROWS_AS(shape[4], CheckFailure);
    CHECK_THROWS_AS(shape[-5], CheckFailure);
    CHECK_THROWS_AS((Shape{1, 2, 3, 4, 5}), CheckFailure);
    CHECK_THROWS_AS((Shape{-1}), CheckFailure);
}

TEST_CASE("a new tensor is row-major and contiguous", "[tensor]") {
    const Tensor tensor = tensor_of({2, 3, 4});
    CHECK(tensor.contiguous());
    CHECK(tensor.stride(0) == 12);
    CHECK(tensor.stride(-1) == 1);
    CHECK(tensor.to_string() == "F32 [2, 3, 4]");
}

TEST_CASE("a repeated tensor has the same values at each new index", "[tensor]") {
    const Tensor tensor = make_tensor(nullptr, {3, 2}, DType::F32);
    const Tensor rows = tensor.repeat(0, 4);
    CHECK(rows.shape == Shape{4, 3, 2});
    CHECK(rows.strides == Strides{0, 2, 1, 0});
    const Tensor columns = tensor.repeat(1, 4);
    CHECK(columns.shape == Shape{3, 4, 2});
    CHECK(columns.strides == Strides{2, 0, 1, 0});
}

TEST_CASE("narrow and split are views with their own offsets", "[tensor]") {
    const Tensor tensor = tensor_of({4, 6});
    const Tensor part = tensor.narrow(1, 2, 3);
    CHECK(part.shape == Shape{4, 3});
    CHECK(place(part, {1, 0}) == 8);
    CHECK_FALSE(part.contiguous());
    CHECK(place(part.narrow(0, 2, 2).narrow(1, 1, 1), {1, 0}) == 3 * 6 + 3);
    CHECK(part.to_string() == "F32 [4, 3] strides [6, 1] offset 2");
    CHECK(tensor.narrow(0, 1, 2).contiguous());
    CHECK_THROWS_AS(tensor.narrow(1, 4, 3), CheckFailure);
    CHECK_THROWS_AS(part.reshape({12}), CheckFailure);

    const Tensor split = tensor.split(1, 2);
    CHECK(split.shape == Shape{4, 3, 2});
    CHECK(place(split, {3, 2, 1}) == 23);
    CHECK_THROWS_AS(tensor.split(1, 4), CheckFailure);
}

TEST_CASE("heads of a packed row are a view", "[tensor]") {
    const Tensor packed = tensor_of({2, 5, 3 * 8});  // q, k and v of two heads of four
    const Tensor key_heads = packed.narrow(2, 8, 8).heads(2);
    CHECK(key_heads.shape == Shape{2, 2, 5, 4});
    // sentence 1, head 1, position 3, entry 2
    CHECK(place(key_heads, {1, 1, 3, 2}) == (1 * 5 + 3) * 24 + 8 + 4 + 2);
    CHECK_THROWS_AS(packed.heads(5), CheckFailure);
    CHECK_THROWS_AS(packed.swap(1, 2), CheckFailure);
}

TEST_CASE("dimensions of size one do not affect contiguity", "[tensor]") {
    const Tensor row = tensor_of({4, 6}).narrow(0, 2, 1);
    CHECK(row.contiguous());
    CHECK(row.reshape({2, 3}).offset == 12);
    CHECK_FALSE(tensor_of({4, 6}).narrow(1, 0, 1).contiguous());
}
