// The driver's compiled pipelines, saved between runs. If anything is wrong with the file, pipelines are compiled
// again: it only saves time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

// Empty if the file is missing, of another format, truncated or damaged.
std::vector<std::byte> read_pipeline_cache(const std::string& path);

// Whether data begins with Vulkan's cache header for exactly this device and driver. Drivers check that too, but trust
// what follows.
bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<std::byte>& data);

// Like write_cache_file.
bool write_pipeline_cache(const std::string& path, const std::vector<std::byte>& data);

}  // namespace headscope::vulkan
