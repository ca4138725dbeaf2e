// VK_KHR_cooperative_matrix: matrices shared by the invocations of a subgroup, which GPUs multiply several times as
// fast as scalars. Used for F16 times F16 with F32 sums and, with VK_KHR_shader_bfloat16, for BF16 times BF16.
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
inline constexpr const char* kBf16MatrixFeature = "cooperative matrices in BF16";

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

// Whose matrices they are. Intel: where the invocations of a subgroup share registers (SubgroupSizes).
enum class MatrixMaker : std::uint8_t { Other, Nvidia, Amd, Intel, Software };

// What the rest of the probe has found.
struct MatrixCapabilities {
    bool extension = false;      // listed
    bool bfloat16 = false;       // VK_KHR_shader_bfloat16 is listed
    bool subgroups = false;      // full subgroups can be required
    bool rounds_halves = false;  // F16 rounds to nearest if requested
    bool dot_products = false;   // VK_KHR_shader_integer_dot_product is listed
    MatrixMaker maker = MatrixMaker::Other;
    VkDriverId driver{};
    std::uint32_t subgroup_size = 0;
    VkPhysicalDeviceLimits limits{};
};
CooperativeMatrices probe_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                   const MatrixCapabilities& probed);
// In BF16, of a device that has `halves` in F16: what those need is not probed again.
CooperativeMatrices probe_bf16_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                        const MatrixCapabilities& probed, const CooperativeMatrices& halves);

// The features that must be enabled, to be chained before `next`. Not copyable: it points to itself.
struct MatrixFeatures {
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    VkPhysicalDeviceShaderFloat16Int8Features float16{};
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model{};
    VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16{};

    void* chain(void* next, bool with_bfloat16);  // returns the first
    void enable();                                // after chain()
};

}  // namespace headscope::vulkan
