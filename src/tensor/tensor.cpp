#include "tensor/tensor.h"

#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

void check_rows(const Tensor& tensor) {
    HEADSCOPE_CHECK(tensor.layout == WeightLayout::Rows,
                    "a matrix in panels has no other views: " + tensor.to_string());
}

}  // namespace

bool Tensor::contiguous() const {
    std::int64_t step = 1;
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
        if (shape[dim] != 1 && strides[static_cast<std::size_t>(dim)] != step) {
            return false;
        }
        step *= shape[dim];
    }
    return true;
}

Tensor Tensor::reshape(const Shape& to) const {
    HEADSCOPE_CHECK(contiguous(), "only a contiguous tensor can be reshaped, this is " + to_string());
    if (to != shape) {
        check_rows(*this);
    }
    HEADSCOPE_CHECK(to.elements() == elements(), "cannot reshape " + to_string() + " to " + to.to_string());
    Tensor view = *this;
    view.shape = to;
    view.strides = contiguous_strides(to);
    return view;
}

Tensor Tensor::narrow(int dimension, std::int64_t start, std::int64_t size) const {
    const int dim = shape.index(dimension);
    HEADSCOPE_CHECK(start >= 0 && size >= 0 && start + size <= shape[dim],
                    "cannot take [" + std::to_string(start) + ", " + std::to_string(start + size) + ") of dimension " +
                        std::to_string(dim) + " of " + to_string());
    HEADSCOPE_CHECK(layout == WeightLayout::Rows ||
                        (dim == 0 && start % kPanelRows == 0 && (size % kPanelRows == 0 || start + size == shape[0])),
                    "rows of panels begin and end with a panel, not with rows " + std::to_string(start) + " and " +
                        std::to_string(start + size) + " of " + to_string());
    Tensor view = *this;
    view.shape.set(dim, size);
    view.offset += start * strides[static_cast<std::size_t>(dim)];
    return view;
}

Tensor Tensor::split(int dimension, std::int64_t inner) const {
    const int dim = shape.index(dimension);
    check_rows(*this);
    HEADSCOPE_CHECK(
        rank() < kMaxRank && inner > 0 && shape[dim] % inner == 0,
        "cannot split dimension " + std::to_string(dim) + " of " + to_string() + " by " + std::to_string(inner));
    Tensor view = *this;
    std::initializer_list<std::int64_t> none{};
    Shape to(none);
    std::array<std::int64_t, kMaxRank> dims{};
    Strides steps{};
    std::size_t next = 0;
    for (int d = 0; d < rank(); ++d) {
        const std::int64_t step = strides[static_cast<std::size_t>(d)];
        if (d == dim) {
            dims[next] = shape[d] / inner;
            steps[next++] = step * inner;
            dims[next] = inner;
            steps[next++] = step;
        } else {
            dims[next] = shape[d];
            steps[next++] = step;
        }
    }
    switch (next) {
        case 2: to = Shape{dims[0], dims[1]}; break;
        case 3: to = Shape{dims[0], dims[1], dims[2]}; break;
        default: to = Shape{dims[0], dims[1], dims[2], dims[3]}; break;
    }
    view.shape = to;
    view.strides = steps;
    return view;
}

Tensor Tensor::repeat(int dimension, std::int64_t count) const {
    const int dim = shape.index(dimension);
    Tensor view = split(dim, shape[dim]);
    view.shape.set(dim, count);
    view.strides[static_cast<std::size_t>(dim)] = 0;
    return view;
}

Tensor Tensor::swap(int first, int second) const {
    const int a = shape.index(first);
    const int b = shape.index(second);
    check_rows(*this);
    HEADSCOPE_CHECK(a == b || (a != rank() - 1 && b != rank() - 1),
                    "the innermost dimension stays in place, in " + to_string());
    Tensor view = *this;
    const std::int64_t size = view.shape[a];
    view.shape.set(a, view.shape[b]);
    view.shape.set(b, size);
    std::swap(view.strides[static_cast<std::size_t>(a)], view.strides[static_cast<std::size_t>(b)]);
    return view;
}

Tensor Tensor::heads(std::int64_t count) const {
    HEADSCOPE_CHECK(rank() == 3 && count > 0 && shape[2] % count == 0,
                    "cannot view " + to_string() + " as " + std::to_string(count) + " heads");
    return split(2, shape[2] / count).swap(1, 2);
}

std::string Tensor::to_string() const {
    std::string text = std::string(name_of(dtype)) + " " + shape.to_string();
    if (layout == WeightLayout::Panels) {
        text += " in panels";
    }
    if (!contiguous()) {
        text += " strides [";
        for (int dim = 0; dim < rank(); ++dim) {
            text += (dim == 0 ? "" : ", ") + std::to_string(stride(dim));
        }
        text += "]";
    }
    return offset == 0 ? text : text + " offset " + std::to_string(offset);
}

Tensor make_tensor(std::shared_ptr<Buffer> buffer, const Shape& shape, DType dtype, std::int64_t offset) {
    Tensor tensor;
    tensor.shape = shape;
    tensor.strides = contiguous_strides(shape);
    tensor.offset = offset;
    tensor.dtype = dtype;
    tensor.buffer = std::move(buffer);
    return tensor;
}

}  // namespace headscope
