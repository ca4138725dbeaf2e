// Structures that Vulkan chains: made with their type, and those of the features that the backend can use.
#pragma once

#include "backends/vulkan/instance.h"

namespace headscope::vulkan {

// Of vulkan_beta.h: to be enabled where it is listed.
inline constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";

template <class T>
T chained(VkStructureType type, void* next) {
    T link{};
    link.sType = type;
    link.pNext = next;
    return link;
}

// Every extension and optional feature that the backend can use.
struct Features {
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size{};
    VkPhysicalDevice16BitStorageFeatures storage16{};
    VkPhysicalDeviceFeatures2 all{};

    void chain(bool size_control) {
        storage16 = chained<VkPhysicalDevice16BitStorageFeatures>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, nullptr);
        subgroup_size = chained<VkPhysicalDeviceSubgroupSizeControlFeatures>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, &storage16);
        all = chained<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                                 size_control ? static_cast<void*>(&subgroup_size) : &storage16);
    }
};

}  // namespace headscope::vulkan
