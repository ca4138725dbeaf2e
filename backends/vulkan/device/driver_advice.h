// What to install where no driver is found.
#pragma once

#include <string>

namespace headscope::vulkan {

// In the words of an error. Where there is `nvidia_control`, NVIDIA's kernel driver runs and what its Vulkan driver
// lacks is most likely a container's fault: that maps it in only where graphics are asked for, and it needs two of X's
// libraries.
std::string driver_advice(const std::string& nvidia_control = "/dev/nvidiactl");

}  // namespace headscope::vulkan
