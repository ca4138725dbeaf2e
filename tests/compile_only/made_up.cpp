// Fake memory, commands and fences. In place of a GPU's results come small whole numbers, each another one, so that as
// tokens they let a search continue.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

#include "stand_in.h"

namespace headscope::compile_only {

namespace {

constexpr std::uint32_t kHostMemory = 1;  // of the types of made_up_memory()

struct Pages {
    VkDeviceSize bytes = 0;
    std::uint32_t type = 0;
};
struct Place {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
};

std::mutex made_up_mutex;
std::map<VkDeviceMemory, Pages> allocations;
std::map<VkBuffer, Place> places;
std::uint64_t handles = 0;

template <class Handle>
Handle next_handle() {
    const std::lock_guard<std::mutex> lock(made_up_mutex);
    return reinterpret_cast<Handle>(++handles << 4U);
}

void buffer_requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* to) {
    own<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(device, buffer, to);
    to->memoryTypeBits = 3;
}

// A handle is the address.
VkResult allocate_memory(VkDevice, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks*, VkDeviceMemory* to) {
    void* pages =
        mmap(nullptr, info->allocationSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *to = reinterpret_cast<VkDeviceMemory>(pages);
    const std::lock_guard<std::mutex> lock(made_up_mutex);
    allocations[*to] = {info->allocationSize, info->memoryTypeIndex};
    return VK_SUCCESS;
}

void free_memory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks*) {
    const std::lock_guard<std::mutex> lock(made_up_mutex);
    const auto found = allocations.find(memory);
    if (found != allocations.end()) {
        munmap(reinterpret_cast<void*>(memory), found->second.bytes);
        allocations.erase(found);
    }
}

VkResult map_memory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize, VkMemoryMapFlags, void** to) {
    *to = reinterpret_cast<std::byte*>(memory) + offset;
    return VK_SUCCESS;
}

VkResult bind_memory(VkDevice, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
    const std::lock_guard<std::mutex> lock(made_up_mutex);
    places[buffer] = {memory, offset};
    return VK_SUCCESS;
}

void copy_buffer(VkCommandBuffer, VkBuffer, VkBuffer to, std::uint32_t count, const VkBufferCopy* regions) {
    const std::lock_guard<std::mutex> lock(made_up_mutex);
    const Place& place = places[to];
    const auto pages = allocations.find(place.memory);
    if (pages == allocations.end() || pages->second.type != kHostMemory) {
        return;
    }
    constexpr std::uint32_t kFirst = 5;      // after the special tokens
    constexpr std::uint32_t kTokens = 4096;  // fewer than any vocabulary has
    for (const VkBufferCopy& region : std::span(regions, count)) {
        std::byte* begin = reinterpret_cast<std::byte*>(place.memory) + place.offset + region.dstOffset;
        for (std::uint32_t word = 0; word < region.size / sizeof word; ++word) {
            const std::uint32_t token = kFirst + word % kTokens;
            std::memcpy(begin + word * sizeof word, &token, sizeof token);
        }
    }
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

// With any arguments.
VkResult succeed() {
    return VK_SUCCESS;
}
void ignore() {}

}  // namespace

void made_up_memory(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* to) {
    constexpr VkDeviceSize kBytes = VkDeviceSize{16} << 30U;
    VkPhysicalDeviceMemoryProperties& memory = to->memoryProperties;
    memory.memoryHeapCount = 1;
    memory.memoryHeaps[0] = {kBytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory.memoryTypeCount = 2;
    memory.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    memory.memoryTypes[kHostMemory] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                       0};
}

const std::vector<Replacement>& made_up() {
    static const std::vector<Replacement> kReplaced{{"vkGetBufferMemoryRequirements", as_any(buffer_requirements)},
                                                    {"vkAllocateMemory", as_any(allocate_memory)},
                                                    {"vkFreeMemory", as_any(free_memory)},
                                                    {"vkMapMemory", as_any(map_memory)},
                                                    {"vkBindBufferMemory", as_any(bind_memory)},
                                                    {"vkCmdCopyBuffer", as_any(copy_buffer)},
                                                    {"vkAllocateCommandBuffers", as_any(allocate_commands)},
                                                    {"vkFreeCommandBuffers", as_any(ignore)},
                                                    {"vkBeginCommandBuffer", as_any(succeed)},
                                                    {"vkEndCommandBuffer", as_any(succeed)},
                                                    {"vkAllocateDescriptorSets", as_any(allocate_sets)},
                                                    {"vkUpdateDescriptorSets", as_any(ignore)},
                                                    {"vkCreateFence", as_any(create_fence)},
                                                    {"vkDestroyFence", as_any(ignore)},
                                                    {"vkResetFences", as_any(succeed)},
                                                    {"vkWaitForFences", as_any(succeed)},
                                                    {"vkGetFenceStatus", as_any(succeed)},
                                                    {"vkQueueSubmit", as_any(succeed)},
                                                    {"vkDeviceWaitIdle", as_any(succeed)},
                                                    {"vkGetQueryPoolResults", as_any(query_results)}};
    return kReplaced;
}

}  // namespace headscope::compile_only
