// Vulkan's chained structures, created with their type, and those of the features that the backend can use.
#pragma once

#include "backends/vulkan/device/instance.h"

namespace headscope::vulkan {

// From vulkan_beta.h: must be enabled if listed.
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
    VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR control_flow{};
    VkPhysicalDevice16BitStorageFeatures storage16{};
    VkPhysicalDeviceFeatures2 all{};

    // Those of extensions only if the device has them.
    void chain(bool has_size_control, bool has_control_flow) {
        storage16 = chained<VkPhysicalDevice16BitStorageFeatures>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, nullptr);
        void* first = &storage16;
        subgroup_size = chained<VkPhysicalDeviceSubgroupSizeControlFeatures>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, first);
        first = has_size_control ? &subgroup_size : first;
        control_flow = chained<VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR, first);
        first = has_control_flow ? &control_flow : first;
        all = chained<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, first);
    }
};

}  // namespace headscope::vulkan
