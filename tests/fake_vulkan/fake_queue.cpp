// Host-visible memory, and a queue that logs its commands and is done at once.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fake_functions.h"

namespace headscope::fake {

namespace {

struct Command {
    std::string text;
    VkCommandBuffer secondary = nullptr;  // that runs here
};

struct Commands {
    std::vector<Command> recorded;
};

Commands& commands_of(VkCommandBuffer handle) {
    return *reinterpret_cast<Commands*>(handle);
}

// Of all pools: a test has one.
std::vector<std::unique_ptr<Commands>> all_commands;

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice /*device*/, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* /*allocator*/, VkBuffer* made) {
    *made = reinterpret_cast<VkBuffer>(new VkDeviceSize(info->size));
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice /*device*/, VkBuffer buffer,
                                          const VkAllocationCallbacks* /*allocator*/) {
    delete reinterpret_cast<VkDeviceSize*>(buffer);
}

VKAPI_ATTR void VKAPI_CALL requirements(VkDevice /*device*/, VkBuffer buffer, VkMemoryRequirements* found) {
    *found = {*reinterpret_cast<VkDeviceSize*>(buffer), 256, state.buffer_types};
}

std::map<VkDeviceMemory, VkDeviceSize> allocations;

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice /*device*/, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* /*allocator*/, VkDeviceMemory* made) {
    if (state.allocated + info->allocationSize > state.most_allocated) {
        return state.refusal;
    }
    state.types_allocated |= 1U << info->memoryTypeIndex;
    *made = reinterpret_cast<VkDeviceMemory>(std::calloc(1, info->allocationSize));
    state.allocated += allocations[*made] = info->allocationSize;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice /*device*/, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* /*allocator*/) {
    state.allocated -= allocations[memory];
    allocations.erase(memory);
    std::free(reinterpret_cast<void*>(memory));
}

VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice /*device*/, VkDeviceMemory memory, VkDeviceSize /*offset*/,
                                   VkDeviceSize /*size*/, VkMemoryMapFlags /*flags*/, void** mapped) {
    *mapped = reinterpret_cast<void*>(memory);
    return state.mapping;
}

VKAPI_ATTR VkResult VKAPI_CALL bind_memory(VkDevice /*device*/, VkBuffer /*buffer*/, VkDeviceMemory /*memory*/,
                                           VkDeviceSize /*offset*/) {
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice /*device*/, const VkCommandBufferAllocateInfo* /*info*/,
                                                 VkCommandBuffer* made) {
    if (state.allocating_commands != VK_SUCCESS) {
        return state.allocating_commands;
    }
    all_commands.push_back(std::make_unique<Commands>());
    *made = reinterpret_cast<VkCommandBuffer>(all_commands.back().get());
    ++state.commands_live;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_command_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                                   const VkAllocationCallbacks* allocator, VkCommandPool* made) {
    ++state.command_pools_live;
    return create_any(device, info, allocator, made);
}

VKAPI_ATTR void VKAPI_CALL destroy_command_pool(VkDevice /*device*/, VkCommandPool pool,
                                                const VkAllocationCallbacks* /*allocator*/) {
    all_commands.clear();
    state.commands_live = 0;
    state.command_pools_live -= pool == VK_NULL_HANDLE ? 0 : 1;
}

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo* /*info*/) {
    commands_of(commands).recorded.clear();
    if (state.beginning.empty()) {
        return VK_SUCCESS;
    }
    const VkResult result = state.beginning.front();
    state.beginning.erase(state.beginning.begin());
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer /*commands*/) {
    return state.ending;
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, std::uint32_t groups, std::uint32_t /*y*/,
                                    std::uint32_t /*z*/) {
    commands_of(commands).recorded.push_back({"dispatch " + std::to_string(groups)});
}

VKAPI_ATTR void VKAPI_CALL fill(VkCommandBuffer commands, VkBuffer /*buffer*/, VkDeviceSize /*offset*/,
                                VkDeviceSize /*size*/, std::uint32_t word) {
    commands_of(commands).recorded.push_back({"fill " + std::to_string(word)});
}

VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer /*from*/, VkBuffer /*to*/, std::uint32_t /*count*/,
                                const VkBufferCopy* regions) {
    commands_of(commands).recorded.push_back({"copy " + std::to_string(regions->size)});
}

VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer /*commands*/, VkPipelineBindPoint /*point*/,
                                         VkPipeline /*pipeline*/) {}

VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer /*commands*/, VkPipelineBindPoint /*point*/,
                                     VkPipelineLayout /*layout*/, std::uint32_t /*first*/, std::uint32_t /*count*/,
                                     const VkDescriptorSet* /*sets*/, std::uint32_t /*offset_count*/,
                                     const std::uint32_t* /*offsets*/) {}

VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer /*commands*/, VkPipelineLayout /*layout*/,
                                          VkShaderStageFlags /*stages*/, std::uint32_t /*offset*/,
                                          std::uint32_t /*size*/, const void* /*values*/) {}

VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags /*from*/, VkPipelineStageFlags /*to*/,
                                   VkDependencyFlags /*flags*/, std::uint32_t /*count*/,
                                   const VkMemoryBarrier* /*barriers*/, std::uint32_t /*buffers*/,
                                   const VkBufferMemoryBarrier* /*buffer_barriers*/, std::uint32_t /*images*/,
                                   const VkImageMemoryBarrier* /*image_barriers*/) {
    if (state.notes_barriers) {
        commands_of(commands).recorded.push_back({"barrier"});
    }
}

VKAPI_ATTR void VKAPI_CALL free_commands(VkDevice /*device*/, VkCommandPool /*pool*/, std::uint32_t count,
                                         const VkCommandBuffer* buffers) {
    for (std::uint32_t index = 0; index < count; ++index) {
        std::erase_if(all_commands, [&](const auto& each) { return each.get() == &commands_of(buffers[index]); });
        --state.commands_live;
    }
}

// A secondary command buffer is executed with its primary, and must still exist then.
VKAPI_ATTR void VKAPI_CALL execute(VkCommandBuffer commands, std::uint32_t count, const VkCommandBuffer* buffers) {
    for (std::uint32_t index = 0; index < count; ++index) {
        commands_of(commands).recorded.push_back({"", buffers[index]});
    }
}

void carry_out(VkCommandBuffer handle) {
    for (const Command& command : commands_of(handle).recorded) {
        if (command.secondary == nullptr) {
            state.executed.push_back(command.text);
            continue;
        }
        const bool alive = std::any_of(all_commands.begin(), all_commands.end(),
                                       [&](const auto& each) { return each.get() == &commands_of(command.secondary); });
        if (alive) {
            carry_out(command.secondary);
        } else {
            state.executed.emplace_back("commands that are gone");
        }
    }
}

// The submission of a fence, counted from 1; 0 before it.
struct Fence {
    int submission = 0;
};

Fence& fence_of(VkFence handle) {
    return *reinterpret_cast<Fence*>(handle);
}

int submissions = 0;

VKAPI_ATTR VkResult VKAPI_CALL create_fence(VkDevice /*device*/, const VkFenceCreateInfo* /*info*/,
                                            const VkAllocationCallbacks* /*allocator*/, VkFence* made) {
    if (state.fences_live == state.most_fences) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    submissions = state.fences_live++ == 0 ? 0 : submissions;
    *made = reinterpret_cast<VkFence>(new Fence);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice /*device*/, VkFence fence,
                                         const VkAllocationCallbacks* /*allocator*/) {
    state.fences_live -= fence == VK_NULL_HANDLE ? 0 : 1;
    delete reinterpret_cast<Fence*>(fence);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue /*queue*/, std::uint32_t /*count*/, const VkSubmitInfo* info,
                                      VkFence fence) {
    if (state.allocated > state.most_resident || state.refusals > 0) {
        state.refusals -= state.refusals > 0 ? 1 : 0;
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (state.submitting != VK_SUCCESS) {
        return state.submitting;
    }
    fence_of(fence).submission = ++submissions;
    carry_out(*info->pCommandBuffers);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice /*device*/, std::uint32_t /*count*/, const VkFence* fences,
                                               VkBool32 /*all*/, std::uint64_t /*timeout*/) {
    state.waited.push_back(fence_of(*fences).submission);
    return state.waiting;
}

VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice /*device*/, std::uint32_t /*count*/, const VkFence* fences) {
    fence_of(*fences).submission = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice /*device*/, VkFence fence) {
    return fence_of(fence).submission == 0 ? VK_NOT_READY : VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL reset_queries(VkCommandBuffer /*commands*/, VkQueryPool /*pool*/, std::uint32_t /*first*/,
                                         std::uint32_t /*count*/) {}

VKAPI_ATTR void VKAPI_CALL write_timestamp(VkCommandBuffer /*commands*/, VkPipelineStageFlagBits /*stage*/,
                                           VkQueryPool /*pool*/, std::uint32_t /*query*/) {}

VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkDevice /*device*/) {
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL reset_pool(VkDevice /*device*/, VkDescriptorPool /*pool*/,
                                          VkDescriptorPoolResetFlags /*flags*/) {
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_descriptor_pool(VkDevice device, const VkDescriptorPoolCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkDescriptorPool* made) {
    create_any(device, info, allocator, made);
    return state.making_pools;
}

VKAPI_ATTR VkResult VKAPI_CALL create_view(VkDevice device, const VkBufferViewCreateInfo* info,
                                           const VkAllocationCallbacks* allocator, VkBufferView* made) {
    create_any(device, info, allocator, made);
    return state.viewing;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_set(VkDevice /*device*/, const VkDescriptorSetAllocateInfo* /*info*/,
                                            VkDescriptorSet* made) {
    *made = handle_of<VkDescriptorSet>(1);
    return state.allocating_sets;
}

VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice /*device*/, std::uint32_t /*writes*/,
                                       const VkWriteDescriptorSet* /*write*/, std::uint32_t /*copies*/,
                                       const VkCopyDescriptorSet* /*copy*/) {}

}  // namespace

PFN_vkVoidFunction queue_function(const char* name) {
    static const Named kFunctions[] = {
        named("vkCreateBuffer", create_buffer),
        named("vkDestroyBuffer", destroy_buffer),
        named("vkGetBufferMemoryRequirements", requirements),
        named("vkAllocateMemory", allocate),
        named("vkFreeMemory", free_memory),
        named("vkMapMemory", map),
        named("vkBindBufferMemory", bind_memory),
        named("vkCreateBufferView", create_view),
        named("vkDestroyBufferView", destroy_any<VkBufferView>),
        named("vkCreateCommandPool", create_command_pool),
        named("vkDestroyCommandPool", destroy_command_pool),
        named("vkAllocateCommandBuffers", allocate_commands),
        named("vkFreeCommandBuffers", free_commands),
        named("vkBeginCommandBuffer", begin),
        named("vkEndCommandBuffer", end),
        named("vkCmdDispatch", dispatch),
        named("vkCmdFillBuffer", fill),
        named("vkCmdCopyBuffer", copy),
        named("vkCmdBindPipeline", bind_pipeline),
        named("vkCmdBindDescriptorSets", bind_sets),
        named("vkCmdPushConstants", push_constants),
        named("vkCmdPipelineBarrier", barrier),
        named("vkCmdExecuteCommands", execute),
        named("vkCreateFence", create_fence),
        named("vkDestroyFence", destroy_fence),
        named("vkWaitForFences", wait_for_fences),
        named("vkResetFences", reset_fences),
        named("vkGetFenceStatus", fence_status),
        named("vkCreateQueryPool", create_any<VkQueryPoolCreateInfo, VkQueryPool>),
        named("vkDestroyQueryPool", destroy_any<VkQueryPool>),
        named("vkCmdResetQueryPool", reset_queries),
        named("vkCmdWriteTimestamp", write_timestamp),
        named("vkQueueSubmit", submit),
        named("vkDeviceWaitIdle", wait_idle),
        named("vkCreateDescriptorPool", create_descriptor_pool),
        named("vkDestroyDescriptorPool", destroy_any<VkDescriptorPool>),
        named("vkResetDescriptorPool", reset_pool),
        named("vkAllocateDescriptorSets", allocate_set),
        named("vkUpdateDescriptorSets", update_sets),
    };
    return find(kFunctions, name);
}

}  // namespace headscope::fake
