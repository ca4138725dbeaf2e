// A Vulkan loader for tests, with the devices and the failures that they ask for. Nothing can be computed on it: making
// a logical device fails.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

namespace headscope {

struct FakeVulkan {
    VkResult enumerating = VK_SUCCESS;                       // what vkEnumeratePhysicalDevices returns
    std::uint32_t devices = 0;                               // fake 0 is a CPU's, all others discrete GPUs
    bool crashes = false;                                    // vkEnumeratePhysicalDevices does
    void (*bend)(VkPhysicalDeviceLimits& limits) = nullptr;  // what it says of itself
    std::uint32_t subgroup_size = 32;
    bool opens = false;  // whether vkCreateDevice succeeds
    int instances_made = 0;
    int instances_live = 0;
};

}  // namespace headscope

// The library's one state, found with dlsym.
extern "C" headscope::FakeVulkan* fake_vulkan();
