// A right backend with less memory than it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "backend/backend.h"

namespace headscope {

class LimitedBackend final : public Backend {
public:
    explicit LimitedBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    std::size_t limit = std::numeric_limits<std::size_t>::max();  // bytes that live at one time
    std::int64_t asked = 0;                                       // how often memory was asked for
    std::int64_t refuses = -1;                                    // and which time it is refused

    const DeviceInfo& device() const override { return inner_->device(); }
    DType real() const override { return inner_->real(); }
    Tensor empty(const Shape& shape, DType dtype) override {
        if (asked++ == refuses || memory().live + static_cast<std::size_t>(shape.elements()) * size_of(dtype) > limit) {
            throw OutOfMemory("out of memory: no room for " + shape.to_string());
        }
        return inner_->empty(shape, dtype);
    }
    void upload(const Tensor& to, const void* from, std::size_t bytes) override { inner_->upload(to, from, bytes); }
    void download(const Tensor& from, void* to, std::size_t bytes) override { inner_->download(from, to, bytes); }
    void synchronize() override { inner_->synchronize(); }
    MemoryUse memory() const override { return inner_->memory(); }
    Support support(const std::string& op, DType dtype) const override { return inner_->support(op, dtype); }
    Support products(Compute compute) const override { return inner_->products(compute); }

#define HEADSCOPE_DECLARE(Op)         \
    void run(const Op& op) override { \
        inner_->run(op);              \
    }
    HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

private:
    std::unique_ptr<Backend> inner_;
};

}  // namespace headscope
