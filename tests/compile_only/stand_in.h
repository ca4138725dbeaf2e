// A Vulkan loader for a driver without its hardware: the driver compiles kernels, and says of each what became of it;
// memory, commands and fences are made up, so nothing is computed. To be preloaded in the place of libvulkan.so.1.
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

// A device's functions that compile (compiled.cpp) and that are made up (made_up.cpp), in the place of its own.
const std::vector<Replacement>& compiling();
const std::vector<Replacement>& made_up();
// An instance's, likewise.
void made_up_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* to);

// The driver's own function of that name.
PFN_vkVoidFunction own_function(VkDevice device, const char* name);

template <class Function>
Function own(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(own_function(device, name));
}

[[noreturn]] void fail(const std::string& why);
// Of the environment.
const char* required_variable(const char* name);

}  // namespace headscope::compile_only
