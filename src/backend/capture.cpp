#include "backend/capture.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headscope {

namespace {

class NoMemory final : public Buffer {
public:
    NoMemory(std::size_t bytes, std::shared_ptr<std::size_t> allocated)
        : bytes_(bytes), number_((*allocated)++), allocated_(std::move(allocated)) {}
    std::size_t bytes() const override { return bytes_; }
    // In no block of a device.
    Address address() const override { return {std::numeric_limits<std::uint64_t>::max() - number_, 0}; }

private:
    std::size_t bytes_;
    std::size_t number_;
    std::shared_ptr<std::size_t> allocated_;
};

}  // namespace

void add_operand(Hash128& hash, const Tensor& tensor) {
    if (!tensor.defined()) {
        hash.add(0);
        return;
    }
    hash.add(1 + static_cast<std::uint64_t>(tensor.rank()) * 256 + static_cast<std::uint64_t>(tensor.dtype));
    const Address address = tensor.buffer->address();
    hash.add(address.block);
    hash.add(address.byte + static_cast<std::uint64_t>(tensor.offset) * size_of(tensor.dtype));
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        hash.add(static_cast<std::uint64_t>(tensor.dim(dim)));
        hash.add(static_cast<std::uint64_t>(tensor.stride(dim)));
    }
}

Tensor Capture::empty(const Shape& shape, DType dtype) {
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    return make_tensor(std::make_shared<NoMemory>(bytes, allocated_), shape, dtype);
}

std::string Capture::difference(const Capture& other) const {
    const std::size_t most = std::max(ops_.size(), other.ops_.size());
    for (std::size_t op = 0; op < most; ++op) {
        const bool in_both = op < ops_.size() && op < other.ops_.size();
        if (!in_both || ops_[op].until != other.ops_[op].until) {
            const OpId id = op < ops_.size() ? ops_[op].op : other.ops_[op].op;
            return "op " + std::to_string(op + 1) + " (" + name_of(id) + ")";
        }
    }
    return "";
}

}  // namespace headscope
