// A right backend with one fault in Copy, for the harness to find.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.h"

namespace headscope::conformance {

class FaultyBackend final : public Backend {
public:
    // Called in place of the inner backend's Copy.
    using Fault = std::function<void(Backend& inner, const Copy& op)>;
    FaultyBackend(std::unique_ptr<Backend> inner, Fault fault) : inner_(std::move(inner)), fault_(std::move(fault)) {}

    const DeviceInfo& device() const override { return inner_->device(); }
    DType real() const override { return inner_->real(); }
    Tensor empty(const Shape& shape, DType dtype) override { return inner_->empty(shape, dtype); }
    void upload(const Tensor& to, const void* from, std::size_t bytes) override { inner_->upload(to, from, bytes); }
    void download(const Tensor& from, void* to, std::size_t bytes) override { inner_->download(from, to, bytes); }
    void synchronize() override { inner_->synchronize(); }
    MemoryUse memory() const override { return inner_->memory(); }
    Support support(const std::string& op, DType dtype) const override { return inner_->support(op, dtype); }
    Support products(Compute compute) const override { return inner_->products(compute); }

#define HEADSCOPE_DECLARE(Op)         \
    void run(const Op& op) override { \
        forward(op);                  \
    }
    HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

private:
    template <class Op>
    void forward(const Op& op) {
        inner_->run(op);
    }
    void forward(const Copy& op) {
        fault_(*inner_, op);
    }

    std::unique_ptr<Backend> inner_;
    Fault fault_;
};

}  // namespace headscope::conformance
