#include "fake_vulkan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "fake_functions.h"

namespace headscope::fake {

FakeVulkan state;

}  // namespace headscope::fake

using namespace headscope::fake;

namespace {

VKAPI_ATTR VkResult VKAPI_CALL version(std::uint32_t* found) {
    *found = state.loader_version;
    return VK_SUCCESS;
}

VkResult list(const std::vector<const char*>& names, std::uint32_t* count, VkExtensionProperties* extensions) {
    if (extensions == nullptr) {
        *count = static_cast<std::uint32_t>(names.size());
        return VK_SUCCESS;
    }
    *count = std::min(*count, static_cast<std::uint32_t>(names.size()));
    for (std::uint32_t index = 0; index < *count; ++index) {
        extensions[index] = {};
        std::strcpy(extensions[index].extensionName, names[index]);
    }
    return *count < names.size() ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL instance_extensions(const char* layer, std::uint32_t* count,
                                                   VkExtensionProperties* extensions) {
    if (layer != nullptr) {
        return is_layer(layer) ? list(layer_extensions(), count, extensions) : VK_ERROR_LAYER_NOT_PRESENT;
    }
    const std::vector<const char*> shows_all{VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME};
    return list(state.old_loader ? std::vector<const char*>() : shows_all, count, extensions);
}

// Counts concurrent creations and destructions.
class Within {
public:
    Within() {
        const int others = std::atomic_ref<int>(state.within).fetch_add(1);
        if (others >= state.most_within) {
            state.most_within = others + 1;
        }
        if (state.dawdles) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() { std::atomic_ref<int>(state.within).fetch_sub(1); }
};

// Of the last instance.
bool shows_portability = false;

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* /*allocator*/, VkInstance* instance) {
    const Within within;
    const bool knows_extension = std::any_of(
        info->ppEnabledExtensionNames, info->ppEnabledExtensionNames + info->enabledExtensionCount,
        [](const char* name) { return std::strcmp(name, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0; });
    const bool asks = (info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR) != 0;
    if (state.old_loader && (knows_extension || asks)) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    if (info->enabledLayerCount > 0) {
        if (!is_layer(info->ppEnabledLayerNames[0])) {
            return VK_ERROR_LAYER_NOT_PRESENT;
        }
        turn_layer_on(*info);
    }
    shows_portability = state.old_loader || (knows_extension && asks);
    ++state.instances_live;
    *instance = handle_of<VkInstance>(static_cast<std::uint32_t>(++state.instances_made));
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance /*instance*/, const VkAllocationCallbacks* /*allocator*/) {
    const Within within;
    --state.instances_live;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkInstance /*instance*/, std::uint32_t* count, VkPhysicalDevice* devices) {
    if (state.crashes) {
        std::raise(SIGSEGV);
    }
    if (state.enumerating != VK_SUCCESS) {
        return state.enumerating;
    }
    if (state.portability && !shows_portability) {
        *count = 0;
        return VK_SUCCESS;
    }
    *count = state.devices;
    for (std::uint32_t index = 0; devices != nullptr && index < state.devices; ++index) {
        devices[index] = handle_of<VkPhysicalDevice>(index + 1);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties* found) {
    *found = {};
    const auto number = reinterpret_cast<std::uintptr_t>(device) - 1;
    found->apiVersion = VK_API_VERSION_1_2;
    found->vendorID = state.vendor;
    found->deviceType = number == 0        ? VK_PHYSICAL_DEVICE_TYPE_CPU
                        : state.integrated ? VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
                                           : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    std::snprintf(found->deviceName, sizeof found->deviceName, "fake %u", static_cast<unsigned>(number));
    VkPhysicalDeviceLimits& limits = found->limits;
    limits.maxPerStageDescriptorStorageBuffers = limits.maxDescriptorSetStorageBuffers = 16;
    limits.maxComputeWorkGroupInvocations = limits.maxComputeWorkGroupSize[0] = 1024;
    limits.maxComputeSharedMemorySize = 32768;
    limits.maxComputeWorkGroupCount[0] = 65535;
    limits.maxStorageBufferRange = 1U << 27U;
    limits.maxPushConstantsSize = 128;
    limits.minStorageBufferOffsetAlignment = 64;
    if (state.bend != nullptr) {
        state.bend(limits);
    }
}

VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* found) {
    properties(device, &found->properties);
    for (auto* link = static_cast<VkBaseOutStructure*>(found->pNext); link != nullptr; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            auto* subgroups = reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(link);
            subgroups->subgroupSize = state.subgroup_size;
            subgroups->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
            subgroups->supportedOperations =
                VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
            auto* sizes = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(link);
            sizes->minSubgroupSize = state.least_subgroup;
            sizes->maxSubgroupSize = state.most_subgroup;
            sizes->maxComputeWorkgroupSubgroups = state.most_subgroups;
            sizes->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES) {
            reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(link)->maxMemoryAllocationSize = 1U << 30U;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES) {
            auto* floats = reinterpret_cast<VkPhysicalDeviceFloatControlsProperties*>(link);
            floats->roundingModeIndependence = state.rounding;
            floats->shaderSignedZeroInfNanPreserveFloat32 = state.keeps_specials;
            floats->shaderRoundingModeRTEFloat32 = floats->shaderRoundingModeRTEFloat64 = VK_TRUE;
            floats->shaderRoundingModeRTEFloat16 =
                state.matrices == nullptr ? VK_FALSE : state.matrices->rounds_to_nearest;
        } else if (state.matrices == nullptr) {
            continue;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
            reinterpret_cast<VkPhysicalDeviceDriverProperties*>(link)->driverID = state.matrices->driver;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES) {
            reinterpret_cast<VkPhysicalDeviceShaderIntegerDotProductProperties*>(link)
                ->integerDotProduct4x8BitPackedMixedSignednessAccelerated = state.matrices->mixed_dot_products;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR) {
            reinterpret_cast<VkPhysicalDeviceCooperativeMatrixPropertiesKHR*>(link)->cooperativeMatrixSupportedStages =
                state.matrices->stages;
        }
    }
}

bool has_size_control() {
    return state.least_subgroup != 0 || (state.matrices != nullptr && state.matrices->full_subgroups);
}

// The caller's zeros mean a device without the feature.
VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice /*device*/, VkPhysicalDeviceFeatures2* found) {
    for (auto* link = static_cast<VkBaseOutStructure*>(found->pNext); link != nullptr; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES) {
            auto* sizes = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlFeatures*>(link);
            sizes->subgroupSizeControl = state.least_subgroup != 0;
            sizes->computeFullSubgroups = has_size_control();
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES) {
            reinterpret_cast<VkPhysicalDevice16BitStorageFeatures*>(link)->storageBuffer16BitAccess = state.storage16;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR) {
            reinterpret_cast<VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR*>(link)
                ->shaderSubgroupUniformControlFlow = state.control_flow;
        } else if (state.matrices == nullptr) {
            continue;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR) {
            reinterpret_cast<VkPhysicalDeviceCooperativeMatrixFeaturesKHR*>(link)->cooperativeMatrix =
                state.matrices->feature;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES) {
            reinterpret_cast<VkPhysicalDeviceShaderFloat16Int8Features*>(link)->shaderFloat16 = state.matrices->float16;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES) {
            reinterpret_cast<VkPhysicalDeviceVulkanMemoryModelFeatures*>(link)->vulkanMemoryModel =
                state.matrices->memory_model;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR) {
            auto* bfloat16 = reinterpret_cast<VkPhysicalDeviceShaderBfloat16FeaturesKHR*>(link);
            bfloat16->shaderBFloat16Type = state.matrices->bfloat16_type;
            bfloat16->shaderBFloat16CooperativeMatrix = state.matrices->bfloat16_matrices;
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL matrix_kinds(VkPhysicalDevice /*device*/, std::uint32_t* count,
                                            VkCooperativeMatrixPropertiesKHR* kinds) {
    *count = 3;
    for (std::uint32_t index = 0; kinds != nullptr && index < *count; ++index) {
        const bool bfloat16 = index == 2;
        const auto& sizes = state.matrices->sizes[bfloat16 ? 1 : index];
        kinds[index].MSize = sizes[0];
        kinds[index].NSize = sizes[1];
        kinds[index].KSize = sizes[2];
        kinds[index].AType = kinds[index].BType =
            bfloat16 ? VK_COMPONENT_TYPE_BFLOAT16_KHR : VK_COMPONENT_TYPE_FLOAT16_KHR;
        kinds[index].CType = kinds[index].ResultType = bfloat16 ? state.matrices->bfloat16_sum : state.matrices->sum;
        kinds[index].scope = VK_SCOPE_SUBGROUP_KHR;
    }
    return VK_SUCCESS;
}

// A memory type for each heap, all host-visible.
VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice /*device*/, VkPhysicalDeviceMemoryProperties2* found) {
    VkPhysicalDeviceMemoryProperties& all = found->memoryProperties;
    all = {};
    for (const std::uint64_t bytes : state.heaps) {
        if (bytes > 0) {
            const bool own = !state.integrated || all.memoryHeapCount == 0;
            constexpr VkFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                      VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
            constexpr VkFlags kOwnHeap = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
            constexpr VkFlags kOwnType = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
            all.memoryHeaps[all.memoryHeapCount] = {bytes, own ? kOwnHeap : 0};
            all.memoryTypes[all.memoryTypeCount++] = {kHost | (own ? kOwnType : 0), all.memoryHeapCount++};
        }
    }
}

VKAPI_ATTR void VKAPI_CALL queues(VkPhysicalDevice /*device*/, std::uint32_t* count, VkQueueFamilyProperties* found) {
    *count = 1;
    if (found != nullptr) {
        *found = {};
        found->queueFlags = VK_QUEUE_COMPUTE_BIT;
        found->queueCount = 1;
    }
}

VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice device, const char* /*layer*/, std::uint32_t* count,
                                                 VkExtensionProperties* extensions) {
    if (reinterpret_cast<std::intptr_t>(device) - 1 == state.cannot_list) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    std::vector<const char*> names;
    if (extensions != nullptr || state.lists_that_grow == 0) {
        names.push_back(VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME);
    }
    state.lists_that_grow -= extensions != nullptr && state.lists_that_grow > 0 ? 1 : 0;
    if (state.matrices != nullptr && state.matrices->extension) {
        names.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    }
    if (state.matrices != nullptr && state.matrices->bfloat16) {
        names.push_back(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
    }
    if (state.matrices != nullptr && state.matrices->dot_products) {
        names.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    }
    if (state.portability) {
        names.push_back("VK_KHR_portability_subset");
    }
    if (state.lists_control_flow) {
        names.push_back(VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME);
    }
    if (has_size_control()) {
        names.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    }
    return list(names, count, extensions);
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice /*physical*/, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* /*allocator*/, VkDevice* device) {
    const Within within;
    state.matrices_in_bf16 = false;
    for (const auto* link = static_cast<const VkBaseInStructure*>(info->pNext); link != nullptr; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
            state.robust = reinterpret_cast<const VkPhysicalDeviceFeatures2*>(link)->features.robustBufferAccess;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR) {
            state.uniform_flow =
                reinterpret_cast<const VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR*>(link)
                    ->shaderSubgroupUniformControlFlow;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR) {
            const auto* bfloat16 = reinterpret_cast<const VkPhysicalDeviceShaderBfloat16FeaturesKHR*>(link);
            state.matrices_in_bf16 =
                bfloat16->shaderBFloat16Type != 0 && bfloat16->shaderBFloat16CooperativeMatrix != 0;
        }
    }
    state.enabled.assign(info->ppEnabledExtensionNames, info->ppEnabledExtensionNames + info->enabledExtensionCount);
    if (!state.opens) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    say_messages();
    *device = handle_of<VkDevice>(1);
    ++state.devices_live;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice /*device*/, const VkAllocationCallbacks* /*allocator*/) {
    const Within within;
    --state.devices_live;
}

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice /*device*/, std::uint32_t /*family*/, std::uint32_t /*index*/,
                                     VkQueue* queue) {
    *queue = handle_of<VkQueue>(1);
}

bool is_lacking(const char* name) {
    return state.lacks != nullptr && std::strcmp(state.lacks, name) == 0;
}

// Stands for functions that no test may call.
VKAPI_ATTR void VKAPI_CALL not_faked() {
    std::abort();
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice /*device*/, const char* name) {
    static const Named kFunctions[] = {
        named("vkDestroyDevice", destroy_device),
        named("vkGetDeviceQueue", get_queue),
    };
    if (is_lacking(name)) {
        return nullptr;
    }
    PFN_vkVoidFunction found = find(kFunctions, name);
    found = found != nullptr ? found : pipeline_function(name);
    found = found != nullptr ? found : queue_function(name);
    return found != nullptr ? found : not_faked;
}

}  // namespace

extern "C" headscope::FakeVulkan* fake_vulkan() {
    return &state;
}

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance /*instance*/, const char* name) {
    static const Named kFunctions[] = {
        named("vkEnumerateInstanceVersion", version),
        named("vkEnumerateInstanceExtensionProperties", instance_extensions),
        named("vkCreateInstance", create_instance),
        named("vkDestroyInstance", destroy_instance),
        named("vkEnumeratePhysicalDevices", enumerate),
        named("vkGetPhysicalDeviceProperties", properties),
        named("vkGetPhysicalDeviceProperties2", properties2),
        named("vkGetPhysicalDeviceFeatures2", features),
        named("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", matrix_kinds),
        named("vkGetPhysicalDeviceMemoryProperties2", memory),
        named("vkGetPhysicalDeviceQueueFamilyProperties", queues),
        named("vkEnumerateDeviceExtensionProperties", device_extensions),
        named("vkCreateDevice", create_device),
        named("vkGetDeviceProcAddr", device_function),
    };
    if (is_lacking(name)) {
        return nullptr;
    }
    const PFN_vkVoidFunction found = find(kFunctions, name);
    return found != nullptr ? found : validation_function(name);
}
