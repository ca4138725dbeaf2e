// Subgroup sizes: with VK_EXT_subgroup_size_control one of several can be required.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"

namespace headscope::vulkan {

struct SubgroupSizes {
    std::uint32_t own = 1;    // without a request
    std::uint32_t least = 0;  // that can be required in compute shaders; 0 if none can
    std::uint32_t most = 0;
    std::uint32_t most_in_group = 0;  // subgroups of a workgroup, if their size is required

    bool can_be_required() const { return least != 0; }
    // Ascending powers of two.
    std::vector<std::uint32_t> all() const;
    bool offers(std::uint32_t size) const;
    // Whether the invocations of a subgroup share a thread's registers, so that larger subgroups leave each with fewer.
    // True for Intel, whose subgroups (8 to 32, or 16 to 32) can be smaller than any other vendor's, and than the
    // default.
    bool share_registers() const;
    // Whether a workgroup of this size may require it.
    bool fits(std::uint32_t size, std::uint32_t local_size) const {
        return can_be_required() && local_size <= std::uint64_t{size} * most_in_group;
    }
    // Whether a workgroup of this size consists only of subgroups of this size, on a driver that guarantees full ones.
    bool fills(std::uint32_t size, std::uint32_t local_size) const {
        return local_size % size == 0 && (size == own || fits(size, local_size));
    }
    // What the driver reports and Vulkan does not allow; empty if nothing.
    std::string invalid_reason() const;
    // "16" if there is only one, "16 of 8 to 32" otherwise.
    std::string describe(std::uint32_t in_use) const;
};

// Probes `least` and `most`; `size_control`: whether the device has the extension and its feature.
SubgroupSizes probe_subgroup_sizes(const InstanceFunctions& functions, VkPhysicalDevice device, std::uint32_t own,
                                   bool size_control);

// The size that kernels are compiled for: 16 if invocations share registers, else the device's default.
std::uint32_t choose_subgroup_size(const SubgroupSizes& sizes);

}  // namespace headscope::vulkan
