// A tensor is a view: shape, strides, offset and dtype over a shared buffer of some backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace headscope {

// A byte of a backend's memory: a block of it and the place within.
struct Address {
    std::uint64_t block = 0;
    std::uint64_t byte = 0;
};

// Memory of one backend. The last owner returns it to that backend's arena; ops run in order, so it may be reused at
// once.
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    virtual ~Buffer() = default;
    virtual std::size_t bytes() const = 0;
    virtual Address address() const = 0;
};

// How the elements of a matrix lie in memory.
enum class WeightLayout : std::uint8_t {
    Rows,    // as its strides say
    Panels,  // as its backend reads weights fastest (Backend::pack), in the same memory
};

struct Tensor {
    // Of a matrix in panels, rows from a multiple of this to another, or to the end, are one, too.
    static constexpr std::int64_t kPanelRows = 32;

    Shape shape;
    Strides strides{};        // elements; the innermost is 1
    std::int64_t offset = 0;  // elements from the buffer's start
    DType dtype = DType::F32;
    WeightLayout layout = WeightLayout::Rows;
    std::shared_ptr<Buffer> buffer;

    bool defined() const { return buffer != nullptr; }
    std::int64_t elements() const { return shape.elements(); }
    int rank() const { return shape.rank(); }
    std::int64_t dim(int index) const { return shape[index]; }
    // Negative indices count from the end.
    std::int64_t stride(int index) const { return strides[static_cast<std::size_t>(shape.index(index))]; }
    bool contiguous() const;

    // The same elements in another shape. Only for contiguous tensors, like every view but narrow() only in rows.
    Tensor reshape(const Shape& to) const;
    // Entries [start, start + size) of one dimension.
    Tensor narrow(int dimension, std::int64_t start, std::int64_t size) const;
    // Splits one dimension: [.., a*b, ..] to [.., a, b, ..]; b is given.
    Tensor split(int dimension, std::int64_t inner) const;
    // The same values for each of `count` indices of a new dimension before `dimension`, without a copy: only to be
    // read.
    Tensor repeat(int dimension, std::int64_t count) const;
    // Swaps two dimensions; the innermost must stay in place.
    Tensor swap(int first, int second) const;
    // Views [batch, length, heads * depth] as [batch, heads, length, depth]. Paper 3.2.2.
    Tensor heads(std::int64_t count) const;

    // "F32 [2, 8, 33, 64] strides [..] offset 0"
    std::string to_string() const;
};

// A contiguous tensor at the start of the buffer.
Tensor make_tensor(std::shared_ptr<Buffer> buffer, const Shape& shape, DType dtype, std::int64_t offset = 0);

}  // namespace headscope
