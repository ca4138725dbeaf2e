#include "backend/capture.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
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

Tensor Capture::empty(const Shape& shape, DType dtype) {
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    return make_tensor(std::make_shared<NoMemory>(bytes, allocated_), shape, dtype);
}

// One block of words: this runs for every operand of every op of a step of decoding.
void Capture::add_tensor(const Tensor& tensor) {
    struct {
        std::uint64_t rank_and_dtype = 0;  // 0: undefined
        Address address;
        std::array<std::int64_t, kMaxRank> dims{}, strides{};
    } place;
    if (tensor.defined()) {
        place.rank_and_dtype =
            1 + static_cast<std::uint64_t>(tensor.rank()) * 256 + static_cast<std::uint64_t>(tensor.dtype);
        place.address = tensor.buffer->address();
        place.address.byte += static_cast<std::uint64_t>(tensor.offset) * size_of(tensor.dtype);
        for (int dim = 0; dim < tensor.rank(); ++dim) {
            place.dims[static_cast<std::size_t>(dim)] = tensor.dim(dim);
            place.strides[static_cast<std::size_t>(dim)] = tensor.stride(dim);
        }
    }
    key_.append(reinterpret_cast<const char*>(&place), sizeof place);
}

std::string Capture::difference(const Capture& other) const {
    const auto bytes_of = [](const Capture& capture, std::size_t op) {
        const std::size_t begin = capture.ops_[op].at;
        const std::size_t end = op + 1 < capture.ops_.size() ? capture.ops_[op + 1].at : capture.key_.size();
        return std::string_view(capture.key_).substr(begin, end - begin);
    };
    const std::size_t most = std::max(ops_.size(), other.ops_.size());
    for (std::size_t op = 0; op < most; ++op) {
        const bool in_both = op < ops_.size() && op < other.ops_.size();
        if (!in_both || bytes_of(*this, op) != bytes_of(other, op)) {
            const OpId id = op < ops_.size() ? ops_[op].op : other.ops_[op].op;
            return "op " + std::to_string(op + 1) + " (" + name_of(id) + ")";
        }
    }
    return "";
}

}  // namespace headscope
