// Records and presents a frame of the swapchain, and reads it back on request.
#include <cstring>
#include <limits>

#include "support/check.h"
#include "viewer/window/swapchain.h"

namespace headscope::viewer {

namespace {

constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();
constexpr int kChannels = 4;

// Waits for writes to an image and changes its layout for the next reads.
void change_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) {
    const VkImageMemoryBarrier barrier{
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
}

void begin(VkCommandBuffer commands) {
    const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check_vulkan(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

}  // namespace

// The kept image is drawn if `below` is given; a copy of it with `above` on top is the frame.
void Swapchain::record_frame(VkImage image, VkFramebuffer framebuffer, const float background[3], const Record& below,
                             const Record& above) {
    const VkClearValue clear{.color = {.float32 = {background[0], background[1], background[2], 1.0F}}};
    VkRenderPassBeginInfo pass{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                               .renderPass = below_pass_,
                               .framebuffer = kept_->framebuffer(),
                               .renderArea = {.extent = extent_},
                               .clearValueCount = 1,
                               .pClearValues = &clear};
    if (below) {
        vkCmdBeginRenderPass(commands_, &pass, VK_SUBPASS_CONTENTS_INLINE);
        below(commands_);
        vkCmdEndRenderPass(commands_);
    }
    change_layout(commands_, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    const VkImageSubresourceLayers colour{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1};
    const VkImageCopy copy{
        .srcSubresource = colour, .dstSubresource = colour, .extent = {extent_.width, extent_.height, 1}};
    vkCmdCopyImage(commands_, kept_->image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    pass.renderPass = above_pass_;
    pass.framebuffer = framebuffer;
    vkCmdBeginRenderPass(commands_, &pass, VK_SUBPASS_CONTENTS_INLINE);
    above(commands_);
    vkCmdEndRenderPass(commands_);
}

bool Swapchain::draw(const float background[3], const Record& below, const Record& above, Picture* picture) {
    HEADSCOPE_CHECK(picture == nullptr || can_copy_, "the swapchain's images can be read back");
    const VkDevice device = gpu_.device();
    check_vulkan(vkWaitForFences(device, 1, &idle_, VK_TRUE, kForever), "vkWaitForFences");
    std::uint32_t index = 0;
    const VkResult acquired = vkAcquireNextImageKHR(device, swapchain_, kForever, acquired_, VK_NULL_HANDLE, &index);
    if (acquired == VK_ERROR_OUT_OF_DATE_KHR) {
        return false;
    }
    check_vulkan(acquired, "vkAcquireNextImageKHR");
    const Frame& frame = frames_[index];
    check_vulkan(vkResetFences(device, 1, &idle_), "vkResetFences");
    begin(commands_);
    record_frame(frame.image, frame.framebuffer, background, below, above);
    const Readback readback = picture != nullptr ? start_readback(frame.image) : Readback{};
    check_vulkan(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;  // the copy comes first
    const VkSubmitInfo submit{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .waitSemaphoreCount = 1,
                              .pWaitSemaphores = &acquired_,
                              .pWaitDstStageMask = &stage,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands_,
                              .signalSemaphoreCount = 1,
                              .pSignalSemaphores = &frame.drawn};
    check_vulkan(vkQueueSubmit(gpu_.queue(), 1, &submit, idle_), "vkQueueSubmit");
    if (picture != nullptr) {
        check_vulkan(vkWaitForFences(device, 1, &idle_, VK_TRUE, kForever), "vkWaitForFences");
        *picture = finish_readback(readback);
        free(readback);
    }
    const VkPresentInfoKHR present{.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &frame.drawn,
                                   .swapchainCount = 1,
                                   .pSwapchains = &swapchain_,
                                   .pImageIndices = &index};
    const VkResult presented = vkQueuePresentKHR(gpu_.queue(), &present);
    if (presented == VK_ERROR_OUT_OF_DATE_KHR || presented == VK_SUBOPTIMAL_KHR) {
        return false;
    }
    check_vulkan(presented, "vkQueuePresentKHR");
    return acquired != VK_SUBOPTIMAL_KHR;
}

void Swapchain::run_now(const Record& record) {
    check_vulkan(vkWaitForFences(gpu_.device(), 1, &idle_, VK_TRUE, kForever), "vkWaitForFences");
    begin(commands_);
    record(commands_);
    check_vulkan(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    const VkSubmitInfo submit{
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands_};
    check_vulkan(vkQueueSubmit(gpu_.queue(), 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check_vulkan(vkQueueWaitIdle(gpu_.queue()), "vkQueueWaitIdle");
}

Swapchain::Readback Swapchain::start_readback(VkImage image) {
    Readback readback;
    const VkDevice device = gpu_.device();
    const VkBufferCreateInfo buffer{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                    .size = VkDeviceSize{kChannels} * extent_.width * extent_.height,
                                    .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    check_vulkan(vkCreateBuffer(device, &buffer, nullptr, &readback.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, readback.buffer, &needs);
    const VkMemoryAllocateInfo memory{
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = gpu_.memory_type(
            needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
    check_vulkan(vkAllocateMemory(device, &memory, nullptr, &readback.memory), "vkAllocateMemory");
    check_vulkan(vkBindBufferMemory(device, readback.buffer, readback.memory, 0), "vkBindBufferMemory");
    change_layout(commands_, image, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    const VkBufferImageCopy copy{.imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
                                 .imageExtent = {extent_.width, extent_.height, 1}};
    vkCmdCopyImageToBuffer(commands_, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, readback.buffer, 1, &copy);
    change_layout(commands_, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    return readback;
}

Picture Swapchain::finish_readback(const Readback& readback) const {
    Picture picture{static_cast<int>(extent_.width), static_cast<int>(extent_.height), {}};
    picture.pixels.resize(std::size_t{kChannels} * extent_.width * extent_.height);
    void* mapped = nullptr;
    check_vulkan(vkMapMemory(gpu_.device(), readback.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    std::memcpy(picture.pixels.data(), mapped, picture.pixels.size());
    vkUnmapMemory(gpu_.device(), readback.memory);
    const bool swapped = format_.format == VK_FORMAT_B8G8R8A8_UNORM;
    for (std::size_t at = 0; at < picture.pixels.size(); at += kChannels) {
        if (swapped) {
            std::swap(picture.pixels[at], picture.pixels[at + 2]);
        }
        picture.pixels[at + 3] = 255;
    }
    return picture;
}

void Swapchain::free(const Readback& readback) const {
    vkDestroyBuffer(gpu_.device(), readback.buffer, nullptr);
    vkFreeMemory(gpu_.device(), readback.memory, nullptr);
}

}  // namespace headscope::viewer
