// What a module asks of a driver's floating-point numbers (SPV_KHR_float_controls), where it can be asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/vulkan/device/loader.h"

namespace headscope::vulkan {

struct FloatControls {
    // Zeros keep their signs, infinities and NaN are numbers like others, in F32. Unless it is asked for this a driver
    // may compile as if there were none: a ReLU of NaN that is 0, say.
    bool keeps_specials = false;
    bool rounds_halves = false;  // to nearest, in F16
    // The widths, in bits, that have to be asked for as well where that is: what Vulkan calls roundingModeIndependence,
    // of those widths that can be.
    std::vector<std::uint32_t> rounded_alike = {};
};

FloatControls float_controls_of(const VkPhysicalDeviceFloatControlsProperties& properties);

// The module, which keeps specials where the device can, and asks for rounding to nearest in all widths that belong
// together where it does so in 16 bits.
std::vector<std::uint32_t> with_float_controls(std::span<const std::uint32_t> spirv, const FloatControls& controls);

}  // namespace headscope::vulkan
