#include "viewer/window/kept_image.h"

namespace headscope::viewer {

KeptImage::KeptImage(const Gpu& gpu, VkFormat format, VkExtent2D extent, VkRenderPass pass) : gpu_(gpu) {
    try {
        create(format, extent, pass);
    } catch (...) {
        destroy();
        throw;
    }
}

KeptImage::~KeptImage() {
    destroy();
}

void KeptImage::create(VkFormat format, VkExtent2D extent, VkRenderPass pass) {
    const VkImageCreateInfo image{.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                  .imageType = VK_IMAGE_TYPE_2D,
                                  .format = format,
                                  .extent = {extent.width, extent.height, 1},
                                  .mipLevels = 1,
                                  .arrayLayers = 1,
                                  .samples = VK_SAMPLE_COUNT_1_BIT,
                                  .tiling = VK_IMAGE_TILING_OPTIMAL,
                                  .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    check_vulkan(vkCreateImage(gpu_.device(), &image, nullptr, &image_), "vkCreateImage");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu_.device(), image_, &needs);
    const VkMemoryAllocateInfo memory{
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = gpu_.memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)};
    check_vulkan(vkAllocateMemory(gpu_.device(), &memory, nullptr, &memory_), "vkAllocateMemory");
    check_vulkan(vkBindImageMemory(gpu_.device(), image_, memory_, 0), "vkBindImageMemory");
    const VkImageViewCreateInfo view{
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image_,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
    check_vulkan(vkCreateImageView(gpu_.device(), &view, nullptr, &view_), "vkCreateImageView");
    const VkFramebufferCreateInfo framebuffer{.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                              .renderPass = pass,
                                              .attachmentCount = 1,
                                              .pAttachments = &view_,
                                              .width = extent.width,
                                              .height = extent.height,
                                              .layers = 1};
    check_vulkan(vkCreateFramebuffer(gpu_.device(), &framebuffer, nullptr, &framebuffer_), "vkCreateFramebuffer");
}

void KeptImage::destroy() {
    vkDestroyFramebuffer(gpu_.device(), framebuffer_, nullptr);
    vkDestroyImageView(gpu_.device(), view_, nullptr);
    vkDestroyImage(gpu_.device(), image_, nullptr);
    vkFreeMemory(gpu_.device(), memory_, nullptr);
}

}  // namespace headscope::viewer
