// Common to the CPU backend and the oracle: memory and transfers. Ops run at once, so there is never anything to wait
// for.
#pragma once

#include "backend/backend.h"
#include "backends/cpu/memory/host_arena.h"

namespace headscope {

class HostBackend : public Backend {
public:
    explicit HostBackend(DeviceInfo info) : info_(std::move(info)) {}

    const DeviceInfo& device() const override { return info_; }
    Tensor empty(const Shape& shape, DType dtype) override;
    void upload(const Tensor& to, const void* from, std::size_t bytes) override;
    void download(const Tensor& from, void* to, std::size_t bytes) override;
    void synchronize() override {}
    Tensor borrow(const Tensor& lent) override;
    Support events() const override { return {}; }
    void trim() override { arena_.trim(); }
    MemoryUse memory() const override { return arena_.use(); }

private:
    DeviceInfo info_;
    HostArena arena_;
};

}  // namespace headscope
