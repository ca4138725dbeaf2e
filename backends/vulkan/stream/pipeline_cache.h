// The driver's compiled pipelines on disk, between runs. Whatever is wrong with the file, the pipelines are compiled
// anew: it only saves time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

// Empty if the file is missing, of another format, cut short or damaged.
std::vector<std::byte> read_pipeline_cache(const std::string& path);

// Whether data begins with the header that Vulkan prescribes for this very device and driver. A driver has to look at
// that too, but it trusts what stands behind.
bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<std::byte>& data);

// As write_cache_file.
bool write_pipeline_cache(const std::string& path, const std::vector<std::byte>& data);

}  // namespace headscope::vulkan
