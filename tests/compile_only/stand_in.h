// A Vulkan loader for a driver without its hardware: the driver compiles kernels and reports statistics; memory,
// commands and fences are fake, so nothing is computed. To be preloaded as libvulkan.so.1.
#pragma once

#include <vulkan/vulkan.h>

#include <string>
#include <string_view>
#include <vector>

namespace headscope::compile_only {

struct Replacement {
    std::string_view name;
    PFN_vkVoidFunction function;
};

template <class Function>
PFN_vkVoidFunction as_any(Function function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

// Replaced functions of a device: those that compile (compiled.cpp) and fake ones (made_up.cpp).
const std::vector<Replacement>& compiling();
const std::vector<Replacement>& made_up();
// The same for an instance.
void made_up_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* to);

// The driver's own function of that name.
PFN_vkVoidFunction own_function(VkDevice device, const char* name);

template <class Function>
Function own(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(own_function(device, name));
}

[[noreturn]] void fail(const std::string& why);
// From the environment.
const char* required_variable(const char* name);

}  // namespace headscope::compile_only
