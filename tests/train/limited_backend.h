// A backend with limited memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "backend/forwarding_backend.h"

namespace headscope {

class LimitedBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

    std::size_t limit = std::numeric_limits<std::size_t>::max();  // live bytes
    std::int64_t asked = 0;                                       // number of allocations
    std::int64_t refuses = -1;                                    // number of the allocation that fails
    bool reads = true;                                            // false: downloads run out of memory

    Tensor empty(const Shape& shape, DType dtype) override {
        const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
        if (asked++ == refuses || memory().live + bytes > limit) {
            throw OutOfMemory("out of memory: no room for " + shape.to_string());
        }
        return ForwardingBackend::empty(shape, dtype);
    }
    void download(const Tensor& from, void* to, std::size_t bytes) override {
        if (!reads) {
            throw OutOfMemory("out of memory: the driver cannot submit work");
        }
        ForwardingBackend::download(from, to, bytes);
    }
};

}  // namespace headscope
