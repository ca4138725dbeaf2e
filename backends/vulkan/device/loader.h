// The Vulkan loader, opened at run time: without it the program runs and reports what is missing.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <string>

#include "backends/vulkan/device/vk_cooperative_matrix.h"
#include "support/check.h"

namespace headscope::vulkan {

// VkPhysicalDeviceProperties::vendorID.
inline constexpr std::uint32_t kVendorNvidia = 0x10DE;
inline constexpr std::uint32_t kVendorAmd = 0x1002;

#define HEADSCOPE_VK_GLOBAL(X)            \
    X(vkCreateInstance)                   \
    X(vkEnumerateInstanceVersion)         \
    X(vkEnumerateInstanceLayerProperties) \
    X(vkEnumerateInstanceExtensionProperties)

#define HEADSCOPE_VK_INSTANCE(X)                \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceProperties2)           \
    X(vkGetPhysicalDeviceFeatures2)             \
    X(vkGetPhysicalDeviceMemoryProperties2)     \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkEnumerateDeviceExtensionProperties)     \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)

#define HEADSCOPE_VK_DEVICE(X)       \
    X(vkDestroyDevice)               \
    X(vkGetDeviceQueue)              \
    X(vkDeviceWaitIdle)              \
    X(vkAllocateMemory)              \
    X(vkFreeMemory)                  \
    X(vkMapMemory)                   \
    X(vkCreateBuffer)                \
    X(vkDestroyBuffer)               \
    X(vkCreateBufferView)            \
    X(vkDestroyBufferView)           \
    X(vkBindBufferMemory)            \
    X(vkGetBufferMemoryRequirements) \
    X(vkCreateShaderModule)          \
    X(vkDestroyShaderModule)         \
    X(vkCreatePipelineCache)         \
    X(vkDestroyPipelineCache)        \
    X(vkGetPipelineCacheData)        \
    X(vkCreateComputePipelines)      \
    X(vkDestroyPipeline)             \
    X(vkCreatePipelineLayout)        \
    X(vkDestroyPipelineLayout)       \
    X(vkCreateDescriptorSetLayout)   \
    X(vkDestroyDescriptorSetLayout)  \
    X(vkCreateDescriptorPool)        \
    X(vkDestroyDescriptorPool)       \
    X(vkResetDescriptorPool)         \
    X(vkAllocateDescriptorSets)      \
    X(vkUpdateDescriptorSets)        \
    X(vkCreateCommandPool)           \
    X(vkDestroyCommandPool)          \
    X(vkAllocateCommandBuffers)      \
    X(vkFreeCommandBuffers)          \
    X(vkBeginCommandBuffer)          \
    X(vkEndCommandBuffer)            \
    X(vkCmdBindPipeline)             \
    X(vkCmdBindDescriptorSets)       \
    X(vkCmdPushConstants)            \
    X(vkCmdDispatch)                 \
    X(vkCmdCopyBuffer)               \
    X(vkCmdFillBuffer)               \
    X(vkCmdPipelineBarrier)          \
    X(vkCmdExecuteCommands)          \
    X(vkCreateFence)                 \
    X(vkDestroyFence)                \
    X(vkResetFences)                 \
    X(vkWaitForFences)               \
    X(vkGetFenceStatus)              \
    X(vkCreateQueryPool)             \
    X(vkDestroyQueryPool)            \
    X(vkGetQueryPoolResults)         \
    X(vkCmdResetQueryPool)           \
    X(vkCmdWriteTimestamp)           \
    X(vkQueueSubmit)

#define HEADSCOPE_VK_MEMBER(name) PFN_##name name = nullptr;

// The functions that need no instance. Whoever holds one of them keeps this alive.
class Loader {
public:
    // Error with installation advice if the library is missing.
    explicit Loader(const char* library = "libvulkan.so.1");
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;
    ~Loader();

    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
    HEADSCOPE_VK_GLOBAL(HEADSCOPE_VK_MEMBER)

private:
    void* library_ = nullptr;
};

struct InstanceFunctions {
    HEADSCOPE_VK_INSTANCE(HEADSCOPE_VK_MEMBER)
    PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr;    // validation only
    PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;  // validation only
    // If a device has the extension.
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;
};

struct DeviceFunctions {
    HEADSCOPE_VK_DEVICE(HEADSCOPE_VK_MEMBER)
    PFN_vkCmdPushDescriptorSetKHR vkCmdPushDescriptorSetKHR = nullptr;  // if the extension is enabled
};

#undef HEADSCOPE_VK_MEMBER

InstanceFunctions load_instance_functions(const Loader& loader, VkInstance instance);
DeviceFunctions load_device_functions(const InstanceFunctions& functions, VkDevice device);

// "VK_ERROR_DEVICE_LOST (-4)".
std::string name_of(VkResult result);
bool is_out_of_memory(VkResult result);
// The driver is out of memory for its own objects.
class DriverOutOfMemory : public Error {
public:
    using Error::Error;
};

// Error naming the call and the result unless it succeeded; DeviceLost and DriverOutOfMemory where applicable.
void check(VkResult result, const char* call);

}  // namespace headscope::vulkan
