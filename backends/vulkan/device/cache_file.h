// Files that save a device's next start some time: what is wrong with them is never an error.
#pragma once

#include <string>
#include <string_view>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

// The file's name holds device, driver and the driver's own cache id. Empty if there is no directory.
std::string cache_file_path(const Capabilities& capabilities, const std::string& directory, const std::string& ending);

// Written beside and renamed. False if that failed.
bool write_cache_file(const std::string& path, std::string_view bytes);

}  // namespace headscope::vulkan
