// What a module asks of a driver's subgroups (SPV_KHR_subgroup_uniform_control_flow), where it can be asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

// Among a device's features.
inline constexpr const char* kControlFlowFeature = "uniform control flow of subgroups";

// The module, whose subgroups are whole again behind a branch or a loop that they came to as a whole and that all
// leave by its end, however many turns each took: before they exchange or add what they hold. Unasked a driver need
// not see to it.
std::vector<std::uint32_t> with_uniform_control_flow(std::span<const std::uint32_t> spirv);

}  // namespace headscope::vulkan
