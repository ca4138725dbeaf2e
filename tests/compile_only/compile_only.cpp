// A Vulkan loader for a driver without its hardware: the driver compiles kernels, and says of each what became of it.
// Memory, commands and fences are made up, so nothing is computed. To be loaded in the place of libvulkan.so.1, which
// is the file HEADSCOPE_REAL_VULKAN then; HEADSCOPE_COMPILED is the file that gets a line of JSON for each kernel: its
// module, its constants and the driver's statistics (VK_KHR_pipeline_executable_properties).
#include <dlfcn.h>
#include <sys/mman.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "support/check.h"

namespace {

using headscope::vulkan::Kernel;
using headscope::vulkan::KernelModule;

struct State {
    std::mutex mutex;
    PFN_vkGetInstanceProcAddr instance_function = nullptr;
    PFN_vkGetDeviceProcAddr device_function = nullptr;
    VkInstance instance = VK_NULL_HANDLE;  // the last: a device is made of the one that was made for it
    std::map<VkShaderModule, std::string> modules;
    std::map<void*, std::size_t> memory;
    std::uint64_t handles = 0;
    std::ofstream compiled;
};

[[noreturn]] void fail(const std::string& why) {
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

// The real loader is opened with the first call; it stays, since a driver's threads may outlive everything else.
State& state() {
    static State& made = [&]() -> State& {
        auto* fresh = new State;
        void* library = dlopen(required_variable("HEADSCOPE_REAL_VULKAN"), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            fail(dlerror());
        }
        fresh->instance_function = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
        fresh->compiled.open(required_variable("HEADSCOPE_COMPILED"), std::ios::app);
        if (fresh->instance_function == nullptr || !fresh->compiled) {
            fail("HEADSCOPE_REAL_VULKAN is no Vulkan loader, or HEADSCOPE_COMPILED cannot be written");
        }
        return *fresh;
    }();
    return made;
}

template <class Function>
Function of_instance(const char* name) {
    return reinterpret_cast<Function>(state().instance_function(state().instance, name));
}

template <class Function>
Function of_device(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(state().device_function(device, name));
}

template <class Handle>
Handle next_handle() {
    const std::lock_guard<std::mutex> lock(state().mutex);
    return reinterpret_cast<Handle>(++state().handles << 4U);
}

// "matmul_16", as the build calls it.
std::string name_of(std::span<const std::uint32_t> code) {
    const auto same = [&](std::span<const std::uint32_t> known) {
        return std::equal(code.begin(), code.end(), known.begin(), known.end());
    };
    try {
        for (std::uint8_t index = 0;; ++index) {
            const KernelModule module = headscope::vulkan::module_of(static_cast<Kernel>(index));
            const std::pair<std::span<const std::uint32_t>, const char*> forms[] = {
                {module.spirv, ""},
                {module.spirv_shared, "_shared"},
                {module.spirv_texels, "_texels"},
                {module.spirv_16, "_16"},
                {module.spirv_shared_16, "_shared_16"}};
            for (const auto& [known, suffix] : forms) {
                if (!known.empty() && same(known)) {
                    return module.name + std::string(suffix);
                }
            }
        }
    } catch (const headscope::CheckFailure&) {
        fail("a kernel of another build was compiled");
    }
}

// ------------------------------------------------------------------------------------------ what the driver does

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

VkResult create_shader(VkDevice device, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks* allocator,
                       VkShaderModule* to) {
    const VkResult result =
        of_device<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, info, allocator, to);
    if (result == VK_SUCCESS) {
        const std::string name = name_of({info->pCode, info->codeSize / sizeof(std::uint32_t)});
        const std::lock_guard<std::mutex> lock(state().mutex);
        state().modules[*to] = name;
    }
    return result;
}

nlohmann::ordered_json statistics_of(VkDevice device, VkPipeline pipeline) {
    nlohmann::ordered_json found;
    const auto properties =
        of_device<PFN_vkGetPipelineExecutablePropertiesKHR>(device, "vkGetPipelineExecutablePropertiesKHR");
    const auto statistics =
        of_device<PFN_vkGetPipelineExecutableStatisticsKHR>(device, "vkGetPipelineExecutableStatisticsKHR");
    const VkPipelineInfoKHR whole{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
    VkPipelineExecutablePropertiesKHR one{};
    one.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    std::uint32_t count = 1;  // a compute pipeline is one executable
    if (properties(device, &whole, &count, &one) < 0 || count == 0) {
        return found;
    }
    found["Subgroup size"] = one.subgroupSize;
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
    if (statistics(device, &info, &count, nullptr) != VK_SUCCESS) {
        return found;
    }
    VkPipelineExecutableStatisticKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::vector<VkPipelineExecutableStatisticKHR> values(count, empty);
    statistics(device, &info, &count, values.data());
    for (const VkPipelineExecutableStatisticKHR& each : values) {
        nlohmann::ordered_json& to = found[each.name];
        switch (each.format) {
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: to = each.value.b32 != 0; break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: to = each.value.i64; break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: to = each.value.f64; break;
            default: to = each.value.u64; break;
        }
    }
    return found;
}

VkResult create_pipelines(VkDevice device, VkPipelineCache, std::uint32_t count,
                          const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                          VkPipeline* to) {
    if (count != 1) {
        fail("pipelines are compiled one by one");
    }
    VkComputePipelineCreateInfo watched = *infos;
    watched.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    // Without a cache: what comes from there has no statistics.
    const VkResult result = of_device<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines")(
        device, VK_NULL_HANDLE, 1, &watched, allocator, to);
    nlohmann::ordered_json line;
    {
        const std::lock_guard<std::mutex> lock(state().mutex);
        line["module"] = state().modules[infos->stage.module];
    }
    const VkSpecializationInfo& constants = *infos->stage.pSpecializationInfo;
    for (const VkSpecializationMapEntry& entry : std::span(constants.pMapEntries, constants.mapEntryCount)) {
        std::uint32_t value = 0;
        std::memcpy(&value, static_cast<const std::byte*>(constants.pData) + entry.offset, sizeof value);
        line["constants"][std::to_string(entry.constantID)] = value;
    }
    line["result"] = static_cast<int>(result);
    if (result == VK_SUCCESS) {
        line["statistics"] = statistics_of(device, *to);
    }
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().compiled << line.dump() << std::endl;  // now: the next one may end the process
    return result;
}

// ------------------------------------------------------------------------------------------ what is made up

void memory_properties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* to) {
    constexpr VkDeviceSize kBytes = VkDeviceSize{16} << 30U;
    VkPhysicalDeviceMemoryProperties& memory = to->memoryProperties;
    memory.memoryHeapCount = 1;
    memory.memoryHeaps[0] = {kBytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory.memoryTypeCount = 2;
    memory.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    memory.memoryTypes[1] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                             0};
}

void buffer_requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* to) {
    of_device<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(device, buffer, to);
    to->memoryTypeBits = 3;
}

VkResult allocate_memory(VkDevice, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks*, VkDeviceMemory* to) {
    void* pages =
        mmap(nullptr, info->allocationSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().memory[pages] = info->allocationSize;
    *to = reinterpret_cast<VkDeviceMemory>(pages);
    return VK_SUCCESS;
}

void free_memory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks*) {
    const std::lock_guard<std::mutex> lock(state().mutex);
    const auto found = state().memory.find(reinterpret_cast<void*>(memory));
    if (found != state().memory.end()) {
        munmap(found->first, found->second);
        state().memory.erase(found);
    }
}

VkResult map_memory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize, VkMemoryMapFlags, void** to) {
    *to = reinterpret_cast<std::byte*>(memory) + offset;
    return VK_SUCCESS;
}

VkResult bind_memory(VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize) {
    return VK_SUCCESS;
}

VkResult allocate_commands(VkDevice, const VkCommandBufferAllocateInfo* info, VkCommandBuffer* to) {
    std::generate_n(to, info->commandBufferCount, next_handle<VkCommandBuffer>);
    return VK_SUCCESS;
}

VkResult allocate_sets(VkDevice, const VkDescriptorSetAllocateInfo* info, VkDescriptorSet* to) {
    std::generate_n(to, info->descriptorSetCount, next_handle<VkDescriptorSet>);
    return VK_SUCCESS;
}

VkResult create_fence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*, VkFence* to) {
    *to = next_handle<VkFence>();
    return VK_SUCCESS;
}

VkResult query_results(VkDevice, VkQueryPool, std::uint32_t, std::uint32_t, std::size_t bytes, void* to, VkDeviceSize,
                       VkQueryResultFlags) {
    std::memset(to, 0, bytes);
    return VK_SUCCESS;
}

// Whatever it is called with.
VkResult succeed() {
    return VK_SUCCESS;
}
void ignore() {}

struct Replacement {
    std::string_view name;
    PFN_vkVoidFunction function;
};

template <class Function>
PFN_vkVoidFunction as_any(Function function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction replaced(std::span<const Replacement> list, std::string_view name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [name](const Replacement& each) { return each.name == name; });
    return found == list.end() ? nullptr : found->function;
}

PFN_vkVoidFunction device_function(VkDevice device, const char* name) {
    static const std::array kReplaced{Replacement{"vkCreateShaderModule", as_any(create_shader)},
                                      Replacement{"vkCreateComputePipelines", as_any(create_pipelines)},
                                      Replacement{"vkGetBufferMemoryRequirements", as_any(buffer_requirements)},
                                      Replacement{"vkAllocateMemory", as_any(allocate_memory)},
                                      Replacement{"vkFreeMemory", as_any(free_memory)},
                                      Replacement{"vkMapMemory", as_any(map_memory)},
                                      Replacement{"vkBindBufferMemory", as_any(bind_memory)},
                                      Replacement{"vkAllocateCommandBuffers", as_any(allocate_commands)},
                                      Replacement{"vkFreeCommandBuffers", as_any(ignore)},
                                      Replacement{"vkBeginCommandBuffer", as_any(succeed)},
                                      Replacement{"vkEndCommandBuffer", as_any(succeed)},
                                      Replacement{"vkAllocateDescriptorSets", as_any(allocate_sets)},
                                      Replacement{"vkUpdateDescriptorSets", as_any(ignore)},
                                      Replacement{"vkCreateFence", as_any(create_fence)},
                                      Replacement{"vkDestroyFence", as_any(ignore)},
                                      Replacement{"vkResetFences", as_any(succeed)},
                                      Replacement{"vkWaitForFences", as_any(succeed)},
                                      Replacement{"vkGetFenceStatus", as_any(succeed)},
                                      Replacement{"vkQueueSubmit", as_any(succeed)},
                                      Replacement{"vkDeviceWaitIdle", as_any(succeed)},
                                      Replacement{"vkGetQueryPoolResults", as_any(query_results)}};
    if (const PFN_vkVoidFunction own = replaced(kReplaced, name); own != nullptr) {
        return own;
    }
    return std::string_view(name).starts_with("vkCmd") ? as_any(ignore) : state().device_function(device, name);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance,
                                                                                           const char* name) {
    static const std::array kReplaced{Replacement{"vkCreateInstance", as_any(create_instance)},
                                      Replacement{"vkDestroyInstance", as_any(destroy_instance)},
                                      Replacement{"vkCreateDevice", as_any(create_device)},
                                      Replacement{"vkGetPhysicalDeviceMemoryProperties2", as_any(memory_properties)},
                                      Replacement{"vkGetDeviceProcAddr", as_any(device_function)}};
    if (const PFN_vkVoidFunction own = replaced(kReplaced, name); own != nullptr) {
        return own;
    }
    return state().instance_function(instance, name);
}
