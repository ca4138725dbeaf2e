#include "backends/vulkan/stream/recording.h"

namespace headscope::vulkan {

void destroy_views(const Device& device, Commands& commands) {
    for (const VkBufferView view : commands.views) {
        device.functions().vkDestroyBufferView(device.handle(), view, nullptr);
    }
    commands.views.clear();
}

void destroy_pools(const Device& device, Commands& commands) {
    for (const VkDescriptorPool pool : commands.pools) {
        device.functions().vkDestroyDescriptorPool(device.handle(), pool, nullptr);
    }
    commands.pools.clear();
}

Recording::~Recording() {
    for (Commands& part : parts_) {
        device_.functions().vkFreeCommandBuffers(device_.handle(), pool_, 1, &part.buffer);
        destroy_views(device_, part);
        destroy_pools(device_, part);
    }
}

Commands& Recording::part() {
    if (!open_) {
        const DeviceFunctions& functions = device_.functions();
        VkCommandBufferAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        info.commandPool = pool_;
        info.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
        info.commandBufferCount = 1;
        VkCommandBuffer buffer = VK_NULL_HANDLE;
        check(functions.vkAllocateCommandBuffers(device_.handle(), &info, &buffer), "vkAllocateCommandBuffers");
        parts_.emplace_back().buffer = buffer;
        VkCommandBufferInheritanceInfo inheritance{};
        inheritance.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        begin.flags =
            VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;  // a step may be submitted while an earlier one waits
        begin.pInheritanceInfo = &inheritance;
        check(functions.vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer");
        open_ = true;
    }
    return parts_.back();
}

void Recording::end_part() {
    if (open_) {
        open_ = false;
        check(device_.functions().vkEndCommandBuffer(parts_.back().buffer), "vkEndCommandBuffer");
    }
}

}  // namespace headscope::vulkan
