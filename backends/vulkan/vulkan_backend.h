// The Vulkan backend: every core op as a compute shader, on any device with Vulkan 1.2.
//  - F32 tensors and I32 indices; F16 and BF16 as storage if the device has 16-bit storage. Products can round their
//    operands to BF16 or F16, for cooperative matrices that pass their trial too.
//  - Attention, forward and backward, without weights in memory where that is likely to be faster (heads of at most 64
//    columns on a GPU; 32 in backward and on software devices) or where the weights are too large; else composed.
//  - Repeated sequences of short dispatches (Backend::replay) are recorded once as command buffers.
//  - The loader is opened at run time; VulkanDevices reports why a device, or Vulkan as a whole, cannot be used.
//  - HEADSCOPE_VULKAN_VALIDATION=1 enables the validation layer, whose messages become Errors.
//  - HEADSCOPE_VULKAN_DISABLE disables fast paths (options.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

namespace vulkan {
class Instance;
}

// For programs that are about to load the drivers: Error if an installed driver crashes when asked for its devices (a
// child process tests that once for each set of drivers), or if a setting is invalid.
void require_vulkan_drivers(const OpenOptions& options);

// The names of the settings that it reads.
std::vector<std::string> vulkan_settings();

// The Vulkan devices, to list and open. Loading and listing drivers takes tenths of a second, so do it once and pass
// this on. An opened backend may outlive it.
class VulkanDevices {
public:
    // Never throws for a missing loader, driver or device.
    explicit VulkanDevices(const OpenOptions& options);

    // Discrete GPUs, integrated, virtual, then CPUs, as vulkan:0, vulkan:1 ... Never empty: without a device there is
    // one entry whose `rejected` has the reason.
    const std::vector<DeviceInfo>& list() const { return list_; }

    // Error with the reason if there is no such device or it was rejected. `path` is one of DeviceInfo::paths, or
    // empty.
    std::unique_ptr<Backend> open(int index, const std::string& path = "") const;

private:
    const OpenOptions options_;
    std::shared_ptr<const vulkan::Instance> instance_;  // null if Vulkan cannot be used at all
    std::vector<DeviceInfo> list_;
};

}  // namespace headscope
