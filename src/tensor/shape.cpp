#include "tensor/shape.h"

#include "support/check.h"

namespace headscope {

Shape::Shape(std::initializer_list<std::int64_t> dims) {
    HEADSCOPE_CHECK(dims.size() <= kMaxRank, "a shape has at most 4 dimensions, given " + std::to_string(dims.size()));
    for (const std::int64_t size : dims) {
        HEADSCOPE_CHECK(size >= 0, "a dimension is never negative, given " + std::to_string(size));
        dims_[static_cast<std::size_t>(rank_++)] = size;
    }
}

void Shape::refuse(int dim) const {
    HEADSCOPE_CHECK(false, "dimension " + std::to_string(dim) + " of the shape " + to_string() + " does not exist");
}

void Shape::set(int dim, std::int64_t size) {
    HEADSCOPE_CHECK(size >= 0, "a dimension is never negative, given " + std::to_string(size));
    dims_[static_cast<std::size_t>(index(dim))] = size;
}

std::int64_t Shape::elements() const {
    std::int64_t product = 1;
    for (int dim = 0; dim < rank_; ++dim) {
        product *= dims_[static_cast<std::size_t>(dim)];
    }
    return product;
}

std::string Shape::to_string() const {
    std::string text = "[";
    for (int dim = 0; dim < rank_; ++dim) {
        text += (dim == 0 ? "" : ", ") + std::to_string(dims_[static_cast<std::size_t>(dim)]);
    }
    return text + "]";
}

Strides contiguous_strides(const Shape& shape) {
    Strides strides{};
    std::int64_t step = 1;
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
        strides[static_cast<std::size_t>(dim)] = step;
        step *= shape[dim];
    }
    return strides;
}

}  // namespace headscope
