// What to install if no driver is found.
#pragma once

#include <string>

namespace headscope::vulkan {

// Advice for an error message. If `nvidia_control` exists, NVIDIA's kernel driver runs and its Vulkan driver is most
// likely missing because of a container: containers map it only if graphics are requested, and it needs two X
// libraries.
std::string driver_advice(const std::string& nvidia_control = "/dev/nvidiactl");

}  // namespace headscope::vulkan
