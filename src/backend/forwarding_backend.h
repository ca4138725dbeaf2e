// A backend that forwards everything to another, for those that change or watch one thing. Only replay() and
// replay_again() are not forwarded: the other would repeat what it recorded without asking this one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace headscope {

class ForwardingBackend : public Backend {
public:
    explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    const DeviceInfo& device() const override { return inner_->device(); }
    DType full_dtype() const override { return inner_->full_dtype(); }
    Tensor empty(const Shape& shape, DType dtype) override { return inner_->empty(shape, dtype); }
    void upload(const Tensor& to, const void* from, std::size_t bytes) override { inner_->upload(to, from, bytes); }
    void download(const Tensor& from, void* to, std::size_t bytes) override { inner_->download(from, to, bytes); }
    void synchronize() override { inner_->synchronize(); }
    Tensor borrow(const Tensor& lent) override { return inner_->borrow(lent); }
    Tensor pack(const Tensor& weight) override { return inner_->pack(weight); }
    std::shared_ptr<Event> record_event() override { return inner_->record_event(); }
    Support events() const override { return inner_->events(); }
    void trim() override { inner_->trim(); }
    MemoryUse memory() const override { return inner_->memory(); }
    Support support(OpId op, DType dtype) const override { return inner_->support(op, dtype); }
    Support products(Compute compute) const override { return inner_->products(compute); }
    Support weights(DType dtype) const override { return inner_->weights(dtype); }
    Support key_rows(std::int64_t depth) const override { return inner_->key_rows(depth); }
    ProductWays* product_ways() override { return inner_->product_ways(); }
    Collectives* collectives() override { return inner_->collectives(); }
    std::vector<std::string> drain_kernel_names() override { return inner_->drain_kernel_names(); }

#define HEADSCOPE_DEFINE(Op)          \
    void run(const Op& op) override { \
        inner_->run(op);              \
    }
    HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

protected:
    Backend& inner() {
        return *inner_;
    }
    const Backend& inner() const {
        return *inner_;
    }

private:
    std::unique_ptr<Backend> inner_;
};

}  // namespace headscope
