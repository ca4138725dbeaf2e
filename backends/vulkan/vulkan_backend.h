// The Vulkan backend: every core op as a compute shader, on any device with Vulkan 1.2.
//  - F32 tensors, I32 indices; F16 and BF16 as storage that Copy converts to and from, where the device has 16-bit
//    storage; products round their operands to BF16 on request, or to F16, which cooperative matrices then multiply
//    where the device has them and they pass a trial
//  - attention and its way back in F32 without weights in memory, where that is likely to be faster (heads of at most
//    64 columns on a GPU, 32 on the way back and on a CPU's Vulkan) or the weights are too large; else they are
//    composed
//  - runs of short dispatches that come again (Backend::replay) are recorded once, in command buffers that run again
//    and again
//  - the loader is opened at run time; VulkanDevices says why a device, or the whole of Vulkan, cannot be used
//  - HEADSCOPE_VULKAN_VALIDATION=1 runs under the validation layer, whose messages become Errors
//  - HEADSCOPE_VULKAN_DISABLE switches fast paths off (options.h)
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

// Error where an installed driver crashes when it is asked for its devices, which a child process finds out once for
// each set of drivers, or where a setting above asks for what there is not: for whoever is about to load them.
void require_vulkan_drivers(const OpenOptions& options);

// The names of the settings that it reads.
std::vector<std::string> vulkan_settings();

// One look at what there is, from which devices are listed and opened. A driver costs tenths of a second to load and
// enumerate, so look once and pass it on. A backend opened from it may outlive it.
class VulkanDevices {
public:
    // Never throws for a missing loader, driver or device.
    explicit VulkanDevices(const OpenOptions& options);

    // Discrete GPUs, integrated, virtual, then CPUs, as vulkan:0, vulkan:1 ... Never empty: without a device there is
    // one entry whose `rejected` says why.
    const std::vector<DeviceInfo>& list() const { return list_; }

    // Error if there is no such device or it was rejected, saying why.
    // `path` is one of DeviceInfo::paths, or empty.
    std::unique_ptr<Backend> open(int index, const std::string& path = "") const;

private:
    const OpenOptions options_;
    std::shared_ptr<const vulkan::Instance> instance_;  // null where Vulkan as a whole cannot be used
    std::vector<DeviceInfo> list_;
};

}  // namespace headscope
