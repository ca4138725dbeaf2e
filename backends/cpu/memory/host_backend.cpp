#include "backends/cpu/memory/host_backend.h"

#include <cstring>

#include "backends/cpu/memory/view.h"

namespace headscope {

Tensor HostBackend::empty(const Shape& shape, DType dtype) {
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    return make_tensor(arena_.allocate(bytes), shape, dtype);
}

void HostBackend::upload(const Tensor& to, const void* from, std::size_t bytes) {
    if (bytes > 0) {
        std::memcpy(first_byte(to), from, bytes);
    }
}

void HostBackend::download(const Tensor& from, void* to, std::size_t bytes) {
    if (bytes > 0) {
        std::memcpy(to, first_byte(from), bytes);
    }
}

// A buffer of its own, so that the devices do not write to one reference count at each op.
Tensor HostBackend::borrow(const Tensor& lent) {
    const auto* buffer = dynamic_cast<const HostBuffer*>(lent.buffer.get());
    if (buffer == nullptr) {
        return {};
    }
    Tensor borrowed = lent;
    borrowed.buffer = std::make_shared<HostBuffer>(lent.buffer, buffer->data(), buffer->bytes());
    return borrowed;
}

}  // namespace headscope
