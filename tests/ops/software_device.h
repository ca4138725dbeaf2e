// The CPU backend posing as a software Vulkan device.
#pragma once

#include <memory>
#include <utility>

#include "backend/forwarding_backend.h"

namespace headscope::conformance {

class SoftwareDevice final : public ForwardingBackend {
public:
    explicit SoftwareDevice(std::unique_ptr<Backend> inner) : ForwardingBackend(std::move(inner)), info_(inner_info()) {
        info_.software = true;
        info_.backend = "vulkan";
    }
    const DeviceInfo& device() const override { return info_; }

private:
    DeviceInfo inner_info() { return inner().device(); }
    DeviceInfo info_;
};

}  // namespace headscope::conformance
