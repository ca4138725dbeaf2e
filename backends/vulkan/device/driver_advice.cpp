#include "backends/vulkan/device/driver_advice.h"

#include <filesystem>
#include <system_error>

namespace headscope::vulkan {

std::string driver_advice(const std::string& nvidia_control) {
    std::string advice = "install mesa-vulkan-drivers, or your GPU maker's driver";
    std::error_code error;
    if (std::filesystem::exists(nvidia_control, error)) {
        advice +=
            "; an NVIDIA card is here: in a container NVIDIA_DRIVER_CAPABILITIES has to be all or to name graphics, "
            "and libx11-6 and libxext6 have to be installed";
    }
    return advice;
}

}  // namespace headscope::vulkan
