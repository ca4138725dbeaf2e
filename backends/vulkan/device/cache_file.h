// Cache files that save time at the next start. Problems with them are never errors.
#pragma once

#include <string>
#include <string_view>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

// The file name contains device, driver and the driver's own cache id. Empty without a directory.
std::string cache_file_path(const Capabilities& capabilities, const std::string& directory, const std::string& ending);

// Writes a temporary file and renames it. False on failure.
bool write_cache_file(const std::string& path, std::string_view bytes);

}  // namespace headscope::vulkan
