#include "fake_vulkan.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

headscope::FakeVulkan state;

// A handle is its number, from 1.
template <class Handle>
Handle handle_of(std::uint32_t number) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}

VKAPI_ATTR VkResult VKAPI_CALL version(std::uint32_t* found) {
    *found = VK_API_VERSION_1_2;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL no_layers(std::uint32_t* count, VkLayerProperties* /*layers*/) {
    *count = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL no_extensions(const char* /*layer*/, std::uint32_t* count,
                                             VkExtensionProperties* /*extensions*/) {
    *count = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* /*info*/,
                                               const VkAllocationCallbacks* /*allocator*/, VkInstance* instance) {
    ++state.instances_live;
    *instance = handle_of<VkInstance>(static_cast<std::uint32_t>(++state.instances_made));
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance /*instance*/, const VkAllocationCallbacks* /*allocator*/) {
    --state.instances_live;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkInstance /*instance*/, std::uint32_t* count, VkPhysicalDevice* devices) {
    if (state.enumerating != VK_SUCCESS) {
        return state.enumerating;
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
    found->deviceType = number == 0 ? VK_PHYSICAL_DEVICE_TYPE_CPU : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    std::snprintf(found->deviceName, sizeof found->deviceName, "fake %u", static_cast<unsigned>(number));
    VkPhysicalDeviceLimits& limits = found->limits;
    limits.maxPerStageDescriptorStorageBuffers = limits.maxDescriptorSetStorageBuffers = 16;
    limits.maxComputeWorkGroupInvocations = limits.maxComputeWorkGroupSize[0] = 1024;
    limits.maxComputeSharedMemorySize = 32768;
    limits.maxComputeWorkGroupCount[0] = 65535;
    limits.maxStorageBufferRange = 1U << 27U;
}

VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* found) {
    properties(device, &found->properties);
}

// The caller's zeros are a device without the feature.
VKAPI_ATTR void VKAPI_CALL no_features(VkPhysicalDevice /*device*/, VkPhysicalDeviceFeatures2* /*found*/) {}

VKAPI_ATTR void VKAPI_CALL no_memory(VkPhysicalDevice /*device*/, VkPhysicalDeviceMemoryProperties2* /*found*/) {}

VKAPI_ATTR void VKAPI_CALL queues(VkPhysicalDevice /*device*/, std::uint32_t* count, VkQueueFamilyProperties* found) {
    *count = 1;
    if (found != nullptr) {
        *found = {};
        found->queueFlags = VK_QUEUE_COMPUTE_BIT;
        found->queueCount = 1;
    }
}

VKAPI_ATTR VkResult VKAPI_CALL no_device_extensions(VkPhysicalDevice /*device*/, const char* /*layer*/,
                                                    std::uint32_t* count, VkExtensionProperties* /*extensions*/) {
    *count = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice /*physical*/, const VkDeviceCreateInfo* /*info*/,
                                             const VkAllocationCallbacks* /*allocator*/, VkDevice* /*device*/) {
    return VK_ERROR_INITIALIZATION_FAILED;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice /*device*/, const char* /*name*/) {
    return nullptr;
}

struct Named {
    const char* name;
    PFN_vkVoidFunction function;
};

template <class Function>
Named named(const char* name, Function function) {
    return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

}  // namespace

extern "C" headscope::FakeVulkan* fake_vulkan() {
    return &state;
}

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance /*instance*/, const char* name) {
    static const Named kFunctions[] = {
        named("vkEnumerateInstanceVersion", version),
        named("vkEnumerateInstanceLayerProperties", no_layers),
        named("vkEnumerateInstanceExtensionProperties", no_extensions),
        named("vkCreateInstance", create_instance),
        named("vkDestroyInstance", destroy_instance),
        named("vkEnumeratePhysicalDevices", enumerate),
        named("vkGetPhysicalDeviceProperties", properties),
        named("vkGetPhysicalDeviceProperties2", properties2),
        named("vkGetPhysicalDeviceFeatures2", no_features),
        named("vkGetPhysicalDeviceMemoryProperties2", no_memory),
        named("vkGetPhysicalDeviceQueueFamilyProperties", queues),
        named("vkEnumerateDeviceExtensionProperties", no_device_extensions),
        named("vkCreateDevice", create_device),
        named("vkGetDeviceProcAddr", device_function),
    };
    const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                     [&](const Named& entry) { return std::strcmp(entry.name, name) == 0; });
    return found == std::end(kFunctions) ? nullptr : found->function;
}
