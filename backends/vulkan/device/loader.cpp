#include "backends/vulkan/device/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "backend/backend.h"
#include "support/check.h"

namespace headscope::vulkan {

Loader::Loader(const char* library) {
    library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
        throw Error(
            fmt::format("no Vulkan loader ({}): install libvulkan1 and a driver (mesa-vulkan-drivers, or your "
                        "GPU maker's)",
                        library));
    }
    vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library_, "vkGetInstanceProcAddr"));
    bool complete = vkGetInstanceProcAddr != nullptr;
    if (complete) {
#define HEADSCOPE_LOAD(name)                                                           \
    name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(VK_NULL_HANDLE, #name)); \
    complete = complete && name != nullptr;
        HEADSCOPE_VK_GLOBAL(HEADSCOPE_LOAD)
#undef HEADSCOPE_LOAD
    }
    if (!complete) {
        dlclose(library_);
        throw Error(fmt::format("{} is not a Vulkan 1.1 loader or newer: install a current libvulkan1", library));
    }
}

Loader::~Loader() {
    dlclose(library_);
}

InstanceFunctions load_instance_functions(const Loader& loader, VkInstance instance) {
    InstanceFunctions functions;
#define HEADSCOPE_LOAD(name)                                                                           \
    functions.name = reinterpret_cast<PFN_##name>(loader.vkGetInstanceProcAddr(instance, #name));      \
    if (functions.name == nullptr) {                                                                   \
        throw Error("the Vulkan loader offers no " #name ": install a current libvulkan1 and driver"); \
    }
    HEADSCOPE_VK_INSTANCE(HEADSCOPE_LOAD)
#undef HEADSCOPE_LOAD
    functions.vkCreateDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        loader.vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
    functions.vkDestroyDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        loader.vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT"));
    functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
        reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
            loader.vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
    return functions;
}

DeviceFunctions load_device_functions(const InstanceFunctions& functions, VkDevice device) {
    DeviceFunctions loaded;
#define HEADSCOPE_LOAD(name)                                                                  \
    loaded.name = reinterpret_cast<PFN_##name>(functions.vkGetDeviceProcAddr(device, #name)); \
    if (loaded.name == nullptr) {                                                             \
        throw Error("the Vulkan driver offers no " #name ": install a current driver");       \
    }
    HEADSCOPE_VK_DEVICE(HEADSCOPE_LOAD)
#undef HEADSCOPE_LOAD
    loaded.vkCmdPushDescriptorSetKHR = reinterpret_cast<PFN_vkCmdPushDescriptorSetKHR>(
        functions.vkGetDeviceProcAddr(device, "vkCmdPushDescriptorSetKHR"));
    return loaded;
}

std::string name_of(VkResult result) {
    const char* name = "an unknown result";
    switch (result) {
        case VK_SUCCESS: name = "VK_SUCCESS"; break;
        case VK_TIMEOUT: name = "VK_TIMEOUT"; break;
        case VK_ERROR_OUT_OF_HOST_MEMORY: name = "VK_ERROR_OUT_OF_HOST_MEMORY"; break;
        case VK_ERROR_OUT_OF_DEVICE_MEMORY: name = "VK_ERROR_OUT_OF_DEVICE_MEMORY"; break;
        case VK_ERROR_INITIALIZATION_FAILED: name = "VK_ERROR_INITIALIZATION_FAILED"; break;
        case VK_ERROR_DEVICE_LOST: name = "VK_ERROR_DEVICE_LOST"; break;
        case VK_ERROR_MEMORY_MAP_FAILED: name = "VK_ERROR_MEMORY_MAP_FAILED"; break;
        case VK_ERROR_LAYER_NOT_PRESENT: name = "VK_ERROR_LAYER_NOT_PRESENT"; break;
        case VK_ERROR_EXTENSION_NOT_PRESENT: name = "VK_ERROR_EXTENSION_NOT_PRESENT"; break;
        case VK_ERROR_FEATURE_NOT_PRESENT: name = "VK_ERROR_FEATURE_NOT_PRESENT"; break;
        case VK_ERROR_INCOMPATIBLE_DRIVER: name = "VK_ERROR_INCOMPATIBLE_DRIVER"; break;
        case VK_ERROR_TOO_MANY_OBJECTS: name = "VK_ERROR_TOO_MANY_OBJECTS"; break;
        default: break;
    }
    return fmt::format("{} ({})", name, static_cast<int>(result));
}

bool is_out_of_memory(VkResult result) {
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

void check(VkResult result, const char* call) {
    if (result == VK_SUCCESS) {
        return;
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        throw DeviceLost(
            fmt::format("the GPU was lost during {}: it hung, was reset or was unplugged; see the kernel's log, "
                        "then start again (--device cpu works without it)",
                        call));
    }
    const std::string what = fmt::format("{} failed with {}", call, name_of(result));
    if (is_out_of_memory(result)) {
        throw DriverOutOfMemory(what);
    }
    throw Error(what);
}

}  // namespace headscope::vulkan
