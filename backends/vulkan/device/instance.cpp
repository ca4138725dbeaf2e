#include "backends/vulkan/device/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "backends/vulkan/device/driver_advice.h"
#include "backends/vulkan/device/listing.h"
#include "support/check.h"
#include "support/driver_lock.h"

namespace headscope::vulkan {

namespace {

// Since 1.3.216 the loader hides drivers of a Vulkan subset, such as MoltenVK, unless the program opts in; older ones
// hide none. If this query fails, vkCreateInstance reports why.
bool hides_portability(const Loader& loader) {
    try {
        const auto ask = [&](std::uint32_t* count, VkExtensionProperties* found) {
            return loader.vkEnumerateInstanceExtensionProperties(nullptr, count, found);
        };
        return contains(listed<VkExtensionProperties>("vkEnumerateInstanceExtensionProperties", ask),
                        VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    } catch (const Error&) {
        return false;
    }
}

// Smaller is better.
int rank_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
        case VK_PHYSICAL_DEVICE_TYPE_CPU: return 3;
        default: return 4;
    }
}

}  // namespace

Instance::Instance(bool validation) : turn_(driver_lock()) {
    std::uint32_t version = 0;
    check(loader_.vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion");
    if (version < VK_API_VERSION_1_2) {
        throw Error(fmt::format("the Vulkan loader is of version {}.{}, 1.2 is needed: install a current libvulkan1",
                                VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version)));
    }
    try {
        create(validation);
        find_devices();
    } catch (...) {
        destroy();
        throw;
    }
    turn_.unlock();
}

void Instance::create(bool validation) {
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = "headscope";
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    std::vector<const char*> extensions;
    if (hides_portability(loader_)) {
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
        extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    }
    std::optional<ValidationRequest> request;
    if (validation) {
        validation_ = std::make_unique<ValidationLog>();
        request.emplace(loader_, *validation_).add_to(info, extensions);
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = loader_.vkCreateInstance(&info, nullptr, &instance_);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        throw Error("no Vulkan driver: " + driver_advice());
    }
    check(result, "vkCreateInstance");
    // Loaded before the others, since one of those may be missing.
    functions_.vkDestroyInstance =
        reinterpret_cast<PFN_vkDestroyInstance>(loader_.vkGetInstanceProcAddr(instance_, "vkDestroyInstance"));
    functions_ = load_instance_functions(loader_, instance_);
    if (validation) {
        if (functions_.vkCreateDebugUtilsMessengerEXT == nullptr ||
            functions_.vkDestroyDebugUtilsMessengerEXT == nullptr) {
            throw Error(
                "the Vulkan loader lacks functions of VK_EXT_debug_utils, by which the validation layer is "
                "heard: install a current libvulkan1");
        }
        check(functions_.vkCreateDebugUtilsMessengerEXT(instance_, &request->messenger(), nullptr, &messenger_),
              "vkCreateDebugUtilsMessengerEXT");
    }
}

void Instance::find_devices() {
    std::uint32_t count = 0;
    VkResult result = functions_.vkEnumeratePhysicalDevices(instance_, &count, nullptr);
    if (result == VK_SUCCESS && count > 0) {
        devices_.resize(count);
        result = functions_.vkEnumeratePhysicalDevices(instance_, &count, devices_.data());
        devices_.resize(count);
    }
    // VK_INCOMPLETE: a device was plugged in between the two calls; the earlier ones suffice.
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        throw Error(
            fmt::format("the Vulkan driver cannot list its devices: vkEnumeratePhysicalDevices failed with {}; "
                        "reinstall mesa-vulkan-drivers, or your GPU maker's driver",
                        name_of(result)));
    }
    const auto properties = [this](VkPhysicalDevice device) {
        VkPhysicalDeviceProperties found{};
        functions_.vkGetPhysicalDeviceProperties(device, &found);
        return found;
    };
    const auto rank = [&](VkPhysicalDevice device) { return rank_of(properties(device).deviceType); };
    std::stable_sort(devices_.begin(), devices_.end(),
                     [&](VkPhysicalDevice a, VkPhysicalDevice b) { return rank(a) < rank(b); });
    is_nvidia_ = std::any_of(devices_.begin(), devices_.end(),
                             [&](VkPhysicalDevice device) { return properties(device).vendorID == kVendorNvidia; });
}

Instance::~Instance() {
    turn_.lock();  // held to the end of this destructor, after the loader's
    destroy();
}

void Instance::destroy() {
    if (instance_ == VK_NULL_HANDLE || functions_.vkDestroyInstance == nullptr) {
        return;
    }
    if (messenger_ != VK_NULL_HANDLE) {
        functions_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
    }
    // NVIDIA's driver takes static thread-local storage each time it is loaded, and a process can load it some 30 times
    // (seen with 580.159). The loader unloads drivers with the last instance, so one stays.
    static bool kept = false;
    if (is_nvidia_ && !std::exchange(kept, true)) {
        return;
    }
    functions_.vkDestroyInstance(instance_, nullptr);
}

}  // namespace headscope::vulkan
