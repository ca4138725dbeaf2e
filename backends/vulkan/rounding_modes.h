// How a module's conversions round (SPV_KHR_float_controls), where a driver rounds several widths in one way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/vulkan/loader.h"

namespace headscope::vulkan {

// The widths, in bits, that have to be asked for as well where rounding to nearest is asked for in 16: what Vulkan
// calls roundingModeIndependence, of those widths that can be asked for.
std::vector<std::uint32_t> rounded_alike(const VkPhysicalDeviceFloatControlsProperties& floats);

// The module, which asks for rounding to nearest in `widths` as well where it does so in 16 bits.
std::vector<std::uint32_t> with_rounding(std::span<const std::uint32_t> spirv, std::span<const std::uint32_t> widths);

}  // namespace headscope::vulkan
