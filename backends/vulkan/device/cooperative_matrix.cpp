#include "backends/vulkan/device/cooperative_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/vulkan/device/matrix_tiles.h"

namespace headscope::vulkan {

namespace {

bool has_wanted_types(const VkCooperativeMatrixPropertiesKHR& kind, VkComponentTypeKHR operands) {
    return kind.scope == VK_SCOPE_SUBGROUP_KHR && kind.saturatingAccumulation == VK_FALSE && kind.AType == operands &&
           kind.BType == operands && kind.CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
           kind.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
}

// The largest: fewest instructions for the same work.
MatrixSizes largest(const std::vector<VkCooperativeMatrixPropertiesKHR>& kinds, const MatrixCapabilities& probed,
                    VkComponentTypeKHR operands) {
    MatrixSizes best;
    for (const VkCooperativeMatrixPropertiesKHR& kind : kinds) {
        const MatrixDevice device{.sizes = {kind.MSize, kind.NSize, kind.KSize},
                                  .maker = probed.maker,
                                  .subgroup_size = probed.subgroup_size,
                                  .shared_bytes = probed.limits.maxComputeSharedMemorySize,
                                  .most_invocations = probed.limits.maxComputeWorkGroupInvocations};
        if (has_wanted_types(kind, operands) && !matrix_tiles(device).empty() &&
            kind.MSize * kind.NSize * kind.KSize > best.m * best.n * best.k) {
            best = {kind.MSize, kind.NSize, kind.KSize};
        }
    }
    return best;
}

std::vector<VkCooperativeMatrixPropertiesKHR> kinds_of(const InstanceFunctions& functions, VkPhysicalDevice device) {
    const auto enumerate = functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
    std::uint32_t count = 0;
    if (enumerate == nullptr || enumerate(device, &count, nullptr) != VK_SUCCESS) {
        return {};
    }
    VkCooperativeMatrixPropertiesKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    std::vector<VkCooperativeMatrixPropertiesKHR> kinds(count, empty);
    if (enumerate(device, &count, kinds.data()) != VK_SUCCESS) {
        return {};
    }
    kinds.resize(std::min<std::size_t>(count, kinds.size()));
    return kinds;
}

bool in_compute(const InstanceFunctions& functions, VkPhysicalDevice device) {
    VkPhysicalDeviceCooperativeMatrixPropertiesKHR matrices{};
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = &matrices;
    functions.vkGetPhysicalDeviceProperties2(device, &all);
    return (matrices.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
}

// AMD's own drivers list matrices also for GPUs without matrix cores and emulate them: ggml-org/llama.cpp's 10597 and
// 11074. RDNA3 introduced the cores, together with accelerated packed 4x8-bit products of mixed signedness.
bool emulates_matrices(const InstanceFunctions& functions, VkPhysicalDevice device, const MatrixCapabilities& probed) {
    if (probed.driver != VK_DRIVER_ID_AMD_PROPRIETARY && probed.driver != VK_DRIVER_ID_AMD_OPEN_SOURCE) {
        return false;
    }
    VkPhysicalDeviceShaderIntegerDotProductProperties products{};
    products.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = probed.dot_products ? &products : nullptr;
    functions.vkGetPhysicalDeviceProperties2(device, &all);
    return products.integerDotProduct4x8BitPackedMixedSignednessAccelerated == VK_FALSE;
}

void read_features(const InstanceFunctions& functions, VkPhysicalDevice device, bool with_bfloat16,
                   MatrixFeatures& found) {
    VkPhysicalDeviceFeatures2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    all.pNext = found.chain(nullptr, with_bfloat16);
    functions.vkGetPhysicalDeviceFeatures2(device, &all);
}

std::string missing_feature(const InstanceFunctions& functions, VkPhysicalDevice device) {
    MatrixFeatures found;
    read_features(functions, device, false, found);
    if (found.matrices.cooperativeMatrix == VK_FALSE) {
        return "no cooperativeMatrix";
    }
    if (found.float16.shaderFloat16 == VK_FALSE) {
        return "no shaderFloat16";
    }
    return found.memory_model.vulkanMemoryModel == VK_FALSE ? "no vulkanMemoryModel" : "";
}

}  // namespace

void* MatrixFeatures::chain(void* next, bool with_bfloat16) {
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    float16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
    memory_model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
    matrices.pNext = &float16;
    float16.pNext = &memory_model;
    memory_model.pNext = with_bfloat16 ? &bfloat16 : next;
    bfloat16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR;
    bfloat16.pNext = next;
    return &matrices;
}

void MatrixFeatures::enable() {
    matrices.cooperativeMatrix = VK_TRUE;
    float16.shaderFloat16 = VK_TRUE;
    memory_model.vulkanMemoryModel = VK_TRUE;
    bfloat16.shaderBFloat16Type = VK_TRUE;
    bfloat16.shaderBFloat16CooperativeMatrix = VK_TRUE;
}

CooperativeMatrices probe_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                   const MatrixCapabilities& probed) {
    if (!probed.extension) {
        return {{}, "no " VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME};
    }
    if (std::string lacks = missing_feature(functions, device); !lacks.empty()) {
        return {{}, lacks};
    }
    if (!probed.subgroups) {
        return {{}, "no full subgroups"};
    }
    // Mesa 26.1's llvmpipe lists them for subgroups of 16 too, but crashes when it compiles them.
    if (probed.maker == MatrixMaker::Software && probed.subgroup_size != 8) {
        return {{}, fmt::format("none in software for subgroups of {}", probed.subgroup_size)};
    }
    if (4 * probed.subgroup_size > probed.limits.maxComputeWorkGroupInvocations) {
        return {{}, fmt::format("no workgroups of 4 subgroups of {}", probed.subgroup_size)};
    }
    if (!in_compute(functions, device)) {
        return {{}, "none in compute shaders"};
    }
    if (!probed.rounds_halves) {
        return {{}, "no rounding to nearest in F16"};
    }
    if (const std::string unused = tile_row(probed.maker, probed.subgroup_size).unused; !unused.empty()) {
        return {{}, unused};
    }
    if (emulates_matrices(functions, device, probed)) {
        return {{}, "not used where AMD's driver takes them apart: no matrix cores"};
    }
    const MatrixSizes sizes = largest(kinds_of(functions, device), probed, VK_COMPONENT_TYPE_FLOAT16_KHR);
    return {sizes, sizes.m == 0 ? "no F16 matrices with F32 sums that fit a tile" : ""};
}

CooperativeMatrices probe_bf16_matrices(const InstanceFunctions& functions, VkPhysicalDevice device,
                                        const MatrixCapabilities& probed, const CooperativeMatrices& halves) {
    if (!halves.usable()) {
        return {{}, "none in F16"};
    }
    if (!probed.bfloat16) {
        return {{}, "no " VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME};
    }
    MatrixFeatures found;
    read_features(functions, device, true, found);
    if (found.bfloat16.shaderBFloat16Type == VK_FALSE || found.bfloat16.shaderBFloat16CooperativeMatrix == VK_FALSE) {
        return {{}, "no shaderBFloat16CooperativeMatrix"};
    }
    const MatrixSizes sizes = largest(kinds_of(functions, device), probed, VK_COMPONENT_TYPE_BFLOAT16_KHR);
    return {sizes, sizes.m == 0 ? "no BF16 matrices with F32 sums that fit a tile" : ""};
}

}  // namespace headscope::vulkan
