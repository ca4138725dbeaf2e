// The loader that programs see: the driver's functions, found by the real loader (HEADSCOPE_REAL_VULKAN names its
// file), except those that are replaced.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "stand_in.h"

namespace headscope::compile_only {

namespace {

struct State {
    PFN_vkGetInstanceProcAddr instance_function = nullptr;
    PFN_vkGetDeviceProcAddr device_function = nullptr;
    VkInstance instance = VK_NULL_HANDLE;  // the last: a device is created from the one made for it
};

// The real loader is opened with the first call; it stays, since a driver's threads may outlive everything else.
State& state() {
    static State& made = [&]() -> State& {
        auto* fresh = new State;
        void* library = dlopen(required_variable("HEADSCOPE_REAL_VULKAN"), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            fail(dlerror());
        }
        fresh->instance_function = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
        if (fresh->instance_function == nullptr) {
            fail("HEADSCOPE_REAL_VULKAN is no Vulkan loader");
        }
        return *fresh;
    }();
    return made;
}

template <class Function>
Function of_instance(const char* name) {
    return reinterpret_cast<Function>(state().instance_function(state().instance, name));
}

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator, VkInstance* to) {
    const VkResult result = of_instance<PFN_vkCreateInstance>("vkCreateInstance")(info, allocator, to);
    if (result == VK_SUCCESS) {
        state().instance = *to;
        state().device_function = of_instance<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr");
    }
    return result;
}

void destroy_instance(VkInstance instance, const VkAllocationCallbacks* allocator) {
    reinterpret_cast<PFN_vkDestroyInstance>(state().instance_function(instance, "vkDestroyInstance"))(instance,
                                                                                                      allocator);
}

VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* to) {
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{};
    statistics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    statistics.pNext = const_cast<void*>(info->pNext);
    statistics.pipelineExecutableInfo = VK_TRUE;
    std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                        info->ppEnabledExtensionNames + info->enabledExtensionCount);
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    VkDeviceCreateInfo more = *info;
    more.pNext = &statistics;
    more.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    more.ppEnabledExtensionNames = extensions.data();
    return of_instance<PFN_vkCreateDevice>("vkCreateDevice")(physical, &more, allocator, to);
}

PFN_vkVoidFunction replaced(std::span<const Replacement> list, std::string_view name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [name](const Replacement& each) { return each.name == name; });
    return found == list.end() ? nullptr : found->function;
}

PFN_vkVoidFunction device_function(VkDevice device, const char* name) {
    for (const std::vector<Replacement>* list : {&compiling(), &made_up()}) {
        if (const PFN_vkVoidFunction found = replaced(*list, name); found != nullptr) {
            return found;
        }
    }
    static const PFN_vkVoidFunction kIgnore = as_any(+[] {});  // with any arguments
    return std::string_view(name).starts_with("vkCmd") ? kIgnore : own_function(device, name);
}

}  // namespace

PFN_vkVoidFunction own_function(VkDevice device, const char* name) {
    return state().device_function(device, name);
}

void fail(const std::string& why) {
    std::fprintf(stderr, "compile_only: %s\n", why.c_str());
    std::abort();
}

const char* required_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        fail(std::string(name) + " names no file");
    }
    return value;
}

}  // namespace headscope::compile_only

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance,
                                                                                           const char* name) {
    using namespace headscope::compile_only;
    static const std::vector<Replacement> kReplaced{{"vkCreateInstance", as_any(create_instance)},
                                                    {"vkDestroyInstance", as_any(destroy_instance)},
                                                    {"vkCreateDevice", as_any(create_device)},
                                                    {"vkGetPhysicalDeviceMemoryProperties2", as_any(made_up_memory)},
                                                    {"vkGetDeviceProcAddr", as_any(device_function)}};
    const PFN_vkVoidFunction found = replaced(kReplaced, name);
    return found != nullptr ? found : state().instance_function(instance, name);
}
