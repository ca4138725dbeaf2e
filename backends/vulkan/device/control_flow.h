// Requests uniform control flow of subgroups in a module (SPV_KHR_subgroup_uniform_control_flow).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

// Its name among a device's features.
inline constexpr const char* kControlFlowFeature = "uniform control flow of subgroups";

// Returns the module with the guarantee that subgroups reconverge after a branch or loop that they entered as a whole
// and that all invocations leave by its end, however many iterations each took, before they exchange or sum values.
// Without the request a driver need not ensure that.
std::vector<std::uint32_t> with_uniform_control_flow(std::span<const std::uint32_t> spirv);

}  // namespace headscope::vulkan
