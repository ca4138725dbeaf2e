// Requests floating-point behaviour in a module (SPV_KHR_float_controls).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/vulkan/device/loader.h"

namespace headscope::vulkan {

struct FloatControls {
    // In F32 signed zeros, infinities and NaN are preserved. Without the request a driver may compile as if there were
    // none: a ReLU of NaN could be 0.
    bool keeps_specials = false;
    bool rounds_halves = false;  // to nearest, in F16
    // The widths, in bits, for which rounding must be requested as well, as far as it can be: Vulkan's
    // roundingModeIndependence.
    std::vector<std::uint32_t> rounded_alike = {};
};

FloatControls float_controls_of(const VkPhysicalDeviceFloatControlsProperties& properties);

// Returns the module with these requests: special values where supported and, if it rounds to nearest in 16 bits, that
// in all widths that belong together.
std::vector<std::uint32_t> with_float_controls(std::span<const std::uint32_t> spirv, const FloatControls& controls);

}  // namespace headscope::vulkan
