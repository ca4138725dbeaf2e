// A device with a limited memory for tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "backend/forwarding_backend.h"

namespace headscope {

class SmallBackend final : public ForwardingBackend {
public:
    SmallBackend(std::unique_ptr<Backend> inner, std::int64_t most)
        : ForwardingBackend(std::move(inner)), most_(most) {}
    Tensor empty(const Shape& shape, DType dtype) override {
        largest_ = std::max(largest_, shape.elements() * static_cast<std::int64_t>(size_of(dtype)));
        if (largest_ > most_) {
            largest_ = 0;
            throw OutOfMemory("too large");
        }
        return ForwardingBackend::empty(shape, dtype);
    }
    void allow(std::int64_t most) { most_ = most; }
    std::int64_t largest() const { return largest_; }  // largest request
    void forget() { largest_ = 0; }

private:
    std::int64_t most_;
    std::int64_t largest_ = 0;
};

}  // namespace headscope
