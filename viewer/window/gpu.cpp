#include "viewer/window/gpu.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "support/check.h"
#include "support/driver_lock.h"

namespace headscope::viewer {

namespace {

// The order of device types, best first.
int preference(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
        default: return 3;
    }
}

bool has_swapchain(VkPhysicalDevice device) {
    std::uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
    for (const VkExtensionProperties& extension : extensions) {
        if (std::string(extension.extensionName) == VK_KHR_SWAPCHAIN_EXTENSION_NAME) {
            return true;
        }
    }
    return false;
}

// A queue family that supports graphics and presenting to `surface`.
std::optional<std::uint32_t> presenting_family(VkPhysicalDevice device, VkSurfaceKHR surface) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    for (std::uint32_t family = 0; family < count; ++family) {
        VkBool32 presents = VK_FALSE;
        vkGetPhysicalDeviceSurfaceSupportKHR(device, family, surface, &presents);
        if ((families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0 && presents == VK_TRUE) {
            return family;
        }
    }
    return std::nullopt;
}

}  // namespace

void check_vulkan(VkResult result, const char* call) {
    if (result < 0) {
        const std::string what = result == VK_ERROR_DEVICE_LOST ? "the window's GPU was lost"
                                                                : fmt::format("error {}", static_cast<int>(result));
        throw Error(fmt::format("cannot draw the window: {} failed: {}", call, what));
    }
}

Gpu::Gpu(GLFWwindow* window, bool validate) {
    const std::lock_guard<std::mutex> turn(driver_lock());
    try {
        create_instance(validate);
        check_vulkan(glfwCreateWindowSurface(instance_, window, nullptr, &surface_), "glfwCreateWindowSurface");
        choose_device();
        create_device();
    } catch (...) {
        destroy();
        throw;
    }
}

Gpu::~Gpu() {
    const std::lock_guard<std::mutex> turn(driver_lock());
    destroy();
}

void Gpu::destroy() {
    if (device_ != VK_NULL_HANDLE) {
        vkDestroyDevice(device_, nullptr);
    }
    if (surface_ != VK_NULL_HANDLE) {
        vkDestroySurfaceKHR(instance_, surface_, nullptr);
    }
    if (instance_ != VK_NULL_HANDLE) {
        validation_.detach();
        vkDestroyInstance(instance_, nullptr);
    }
}

void Gpu::create_instance(bool validate) {
    std::uint32_t count = 0;
    const char** extensions = glfwGetRequiredInstanceExtensions(&count);
    if (extensions == nullptr) {
        throw Error(
            "Vulkan cannot draw into a window here: the loader has no driver, or none for this display "
            "(vulkaninfo lists them; on Debian mesa-vulkan-drivers has them)");
    }
    const VkApplicationInfo application{
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "Headscope", .apiVersion = VK_API_VERSION_1_1};
    std::vector<const char*> wanted(extensions, extensions + count);
    const char* layer = "VK_LAYER_KHRONOS_validation";
    if (validate) {
        wanted.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    }
    const VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                    .pNext = validate ? validation_.info() : nullptr,
                                    .pApplicationInfo = &application,
                                    .enabledLayerCount = validate ? 1U : 0U,
                                    .ppEnabledLayerNames = &layer,
                                    .enabledExtensionCount = static_cast<std::uint32_t>(wanted.size()),
                                    .ppEnabledExtensionNames = wanted.data()};
    check_vulkan(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
    if (validate) {
        validation_.attach(instance_);
    }
}

void Gpu::choose_device() {
    std::uint32_t count = 0;
    check_vulkan(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check_vulkan(vkEnumeratePhysicalDevices(instance_, &count, devices.data()), "vkEnumeratePhysicalDevices");
    std::string reasons;
    int best = 4;
    for (const VkPhysicalDevice device : devices) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(device, &properties);
        const auto family = presenting_family(device, surface_);
        if (!has_swapchain(device)) {
            reasons += fmt::format("; {} has no {}", properties.deviceName, VK_KHR_SWAPCHAIN_EXTENSION_NAME);
        } else if (!family.has_value()) {
            reasons += fmt::format("; {} has no queue that presents to this display", properties.deviceName);
        } else if (const int rank = preference(properties.deviceType); rank < best) {
            best = rank;
            physical_ = device;
            family_ = *family;
            name_ = properties.deviceName;
        }
    }
    if (physical_ == VK_NULL_HANDLE) {
        throw Error("no Vulkan device can draw a window" + (reasons.empty() ? ": none found" : reasons));
    }
}

void Gpu::create_device() {
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                        .queueFamilyIndex = family_,
                                        .queueCount = 1,
                                        .pQueuePriorities = &priority};
    const char* swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                  .queueCreateInfoCount = 1,
                                  .pQueueCreateInfos = &queue,
                                  .enabledExtensionCount = 1,
                                  .ppEnabledExtensionNames = &swapchain};
    check_vulkan(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
    vkGetDeviceQueue(device_, family_, 0, &queue_);
}

std::uint32_t Gpu::memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
    for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
        if ((bits >> type & 1U) != 0 && (memory.memoryTypes[type].propertyFlags & wanted) == wanted) {
            return type;
        }
    }
    throw Error(name_ + " has no memory type to read a picture back");
}

}  // namespace headscope::viewer
