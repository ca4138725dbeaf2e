// Finds the fake's functions by name, and makes handles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "fake_vulkan.h"

namespace headscope::fake {

extern FakeVulkan state;

// A handle is its number, from 1.
template <class Handle>
Handle handle_of(std::uint32_t number) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}

// For kinds without state.
template <class Info, class Handle>
VKAPI_ATTR VkResult VKAPI_CALL create_any(VkDevice /*device*/, const Info* /*info*/,
                                          const VkAllocationCallbacks* /*allocator*/, Handle* made) {
    *made = handle_of<Handle>(1);
    return VK_SUCCESS;
}

template <class Handle>
VKAPI_ATTR void VKAPI_CALL destroy_any(VkDevice /*device*/, Handle /*handle*/,
                                       const VkAllocationCallbacks* /*allocator*/) {}

struct Named {
    const char* name;
    PFN_vkVoidFunction function;
};

template <class Function>
Named named(const char* name, Function function) {
    return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

template <class Found>
PFN_vkVoidFunction find(const Found& functions, const char* name) {
    const auto* found = std::find_if(std::begin(functions), std::end(functions),
                                     [&](const Named& entry) { return std::strcmp(entry.name, name) == 0; });
    return found == std::end(functions) ? nullptr : found->function;
}

// Shaders, pipelines and their cache: fake_pipelines.cpp.
PFN_vkVoidFunction pipeline_function(const char* name);

// The validation layer and its messenger: fake_validation.cpp.
PFN_vkVoidFunction validation_function(const char* name);
bool is_layer(const char* name);
std::vector<const char*> layer_extensions();
void turn_layer_on(const VkInstanceCreateInfo& info);
void say_messages();

// Memory, buffers, commands and the queue: fake_queue.cpp.
PFN_vkVoidFunction queue_function(const char* name);

}  // namespace headscope::fake
