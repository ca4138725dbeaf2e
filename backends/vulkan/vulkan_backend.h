// The Vulkan backend: every core op as a compute shader, on any device with Vulkan 1.2.
//  - F32 tensors, I32 indices; F16 and BF16 as storage that Copy converts to and from, where the device has 16-bit
//    storage; products round their operands to BF16 on request
//  - the loader is opened at run time; list_vulkan_devices says why a device, or the whole of Vulkan, cannot be used
//  - HEADSCOPE_VULKAN_VALIDATION=1 runs under the validation layer, whose messages become Errors
//  - HEADSCOPE_VULKAN_DISABLE switches fast paths off (options.h)
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// Discrete GPUs, integrated, virtual, then CPUs, as vulkan:0, vulkan:1 ... Never throws: without a loader, a driver or
// a device there is one entry whose `rejected` says so.
std::vector<DeviceInfo> list_vulkan_devices();

// Error if there is no such device or it was rejected, saying why.
std::unique_ptr<Backend> open_vulkan_device(int index);

}  // namespace headscope
