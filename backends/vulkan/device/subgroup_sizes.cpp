#include "backends/vulkan/device/subgroup_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/vulkan/device/device_features.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t kMostInvocations = 128;  // of any device
constexpr std::uint32_t kShort = 16;

}  // namespace

std::vector<std::uint32_t> SubgroupSizes::all() const {
    if (!can_be_required()) {
        return {own};
    }
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = least; size <= std::min(most, kMostInvocations); size *= 2) {
        sizes.push_back(size);
    }
    return sizes;
}

bool SubgroupSizes::offers(std::uint32_t size) const {
    return size == own || (can_be_required() && std::has_single_bit(size) && size >= least && size <= most);
}

bool SubgroupSizes::share_registers() const {
    return own > kShort && offers(kShort);
}

std::string SubgroupSizes::invalid_reason() const {
    const auto is_size = [](std::uint32_t size) { return std::has_single_bit(size) && size <= kMostInvocations; };
    if (!is_size(own)) {
        return fmt::format("subgroups of {} invocations, which is not a power of two up to {}", own, kMostInvocations);
    }
    if (can_be_required() && (!is_size(least) || !is_size(most) || own < least || own > most)) {
        return fmt::format("subgroups of {} to {} invocations, and its own of {}", least, most, own);
    }
    return "";
}

std::string SubgroupSizes::describe(std::uint32_t in_use) const {
    return least == most ? fmt::format("{}", in_use) : fmt::format("{} of {} to {}", in_use, least, most);
}

SubgroupSizes probe_subgroup_sizes(const InstanceFunctions& functions, VkPhysicalDevice device, std::uint32_t own,
                                   bool size_control) {
    SubgroupSizes sizes{.own = std::max(own, 1U)};
    if (!size_control) {
        return sizes;
    }
    auto control = chained<VkPhysicalDeviceSubgroupSizeControlProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, nullptr);
    auto all = chained<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &control);
    functions.vkGetPhysicalDeviceProperties2(device, &all);
    if ((control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        sizes.least = control.minSubgroupSize;
        sizes.most = control.maxSubgroupSize;
        sizes.most_in_group = control.maxComputeWorkgroupSubgroups;
    }
    return sizes;
}

std::uint32_t choose_subgroup_size(const SubgroupSizes& sizes) {
    return sizes.share_registers() ? kShort : sizes.own;
}

}  // namespace headscope::vulkan
