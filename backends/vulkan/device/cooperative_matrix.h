// VK_KHR_cooperative_matrix: matrices that the invocations of a subgroup share, which GPUs multiply several times as
// fast as numbers. Here F16 times F16, summed in F32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/vk_cooperative_matrix.h"

namespace headscope::vulkan {

// Of DeviceInfo::features.
inline constexpr const char* kMatrixFeature = "cooperative matrices";

// One product of matrices: [m, k] . [k, n].
struct MatrixSizes {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
};

struct CooperativeMatrices {
    MatrixSizes sizes;
    std::string missing = "no Vulkan 1.2";  // what a device lacks to use them; empty if it can
    bool usable() const { return missing.empty(); }
};

// What the rest of the probe has found out.
struct MatrixGround {
    bool extension = false;  // is listed
    bool subgroups = false;  // a workgroup can be made of full ones
    bool software = false;
    bool rounds_halves = false;     // to nearest in F16, where it is asked to
    bool shares_registers = false;  // SubgroupSizes
    bool dot_products = false;      // VK_KHR_shader_integer_dot_product is listed
    VkDriverId driver{};
    std::uint32_t subgroup_size = 0;
    VkPhysicalDeviceLimits limits{};
};
CooperativeMatrices probe_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                   const MatrixGround& ground);

// The features that a device needs enabled for them, to be chained before `next`. Not to be copied: it points at
// itself.
struct MatrixFeatures {
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    VkPhysicalDeviceShaderFloat16Int8Features float16{};
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model{};

    void* chain(void* next);  // its first
    void enable();            // after chain()
};

}  // namespace headscope::vulkan
