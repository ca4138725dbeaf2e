// How many invocations a subgroup has: with VK_EXT_subgroup_size_control several sizes can be asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"

namespace headscope::vulkan {

struct SubgroupSizes {
    std::uint32_t own = 1;    // of a device that is not asked
    std::uint32_t least = 0;  // that can be asked for in compute shaders; 0 where none can
    std::uint32_t most = 0;
    std::uint32_t most_in_group = 0;  // subgroups of a workgroup, where their size is asked for

    bool can_be_asked() const { return least != 0; }
    // In their order: powers of two.
    std::vector<std::uint32_t> all() const;
    bool offers(std::uint32_t size) const;
    // Whether the invocations of a subgroup share a thread's registers, so that in a longer one each has fewer:
    // Intel's, 8 to 32 or 16 to 32, can be shorter than any other's, and than the device's own.
    bool share_registers() const;
    // Whether a workgroup of so many invocations may ask for it.
    bool fits(std::uint32_t size, std::uint32_t local_size) const {
        return can_be_asked() && local_size <= std::uint64_t{size} * most_in_group;
    }
    // Whether one of so many has subgroups of this size alone, on a driver that promises full ones.
    bool fills(std::uint32_t size, std::uint32_t local_size) const {
        return local_size % size == 0 && (size == own || fits(size, local_size));
    }
    // What the driver says that Vulkan does not allow; empty if nothing.
    std::string nonsense() const;
    // "16" of one that has no other, "16 of 8 to 32" of one that has.
    std::string describe(std::uint32_t in_use) const;
};

// What `least` and `most` are, of a device that has the extension, and its feature or not.
SubgroupSizes probe_subgroup_sizes(const InstanceFunctions& functions, VkPhysicalDevice device, std::uint32_t own,
                                   bool size_control);

// The size that kernels are compiled for: 16 where invocations share registers, else the device's own.
std::uint32_t choose_subgroup_size(const SubgroupSizes& sizes);

}  // namespace headscope::vulkan
