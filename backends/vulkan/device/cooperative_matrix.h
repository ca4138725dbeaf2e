// VK_KHR_cooperative_matrix: matrices shared by the invocations of a subgroup, which GPUs multiply several times as
// fast as scalars. Used for F16 times F16 with F32 sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/vk_cooperative_matrix.h"

namespace headscope::vulkan {

// Names in DeviceInfo::features.
inline constexpr const char* kMatrixFeature = "cooperative matrices";
inline constexpr const char* kMatrixAttentionFeature = "attention by matrices";

// One matrix product: [m, k] . [k, n].
struct MatrixSizes {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
};

struct CooperativeMatrices {
    MatrixSizes sizes;
    std::string missing = "no Vulkan 1.2";  // what the device lacks; empty if it can use them
    bool usable() const { return missing.empty(); }
};

// What the rest of the probe has found.
struct MatrixCapabilities {
    bool extension = false;  // listed
    bool subgroups = false;  // full subgroups can be required
    bool software = false;
    bool rounds_halves = false;     // F16 rounds to nearest if requested
    bool shares_registers = false;  // SubgroupSizes
    bool dot_products = false;      // VK_KHR_shader_integer_dot_product is listed
    VkDriverId driver{};
    std::uint32_t subgroup_size = 0;
    VkPhysicalDeviceLimits limits{};
};
CooperativeMatrices probe_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                   const MatrixCapabilities& probed);

// The features that must be enabled, to be chained before `next`. Not copyable: it points to itself.
struct MatrixFeatures {
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    VkPhysicalDeviceShaderFloat16Int8Features float16{};
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model{};

    void* chain(void* next);  // returns the first
    void enable();            // after chain()
};

}  // namespace headscope::vulkan
