#include "viewer/window/swapchain.h"

#include <algorithm>
#include <array>
#include <limits>

#include "support/check.h"

namespace headscope::viewer {

namespace {

bool is_bgra(VkFormat format) {
    return format == VK_FORMAT_B8G8R8A8_UNORM;
}

}  // namespace

Swapchain::Swapchain(const Gpu& gpu, int width, int height) : gpu_(gpu) {
    try {
        choose_format();
        below_pass_ = create_render_pass(VK_ATTACHMENT_LOAD_OP_CLEAR, VK_IMAGE_LAYOUT_UNDEFINED,
                                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        above_pass_ = create_render_pass(VK_ATTACHMENT_LOAD_OP_LOAD, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                         VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
        create_commands();
        create(width, height);
    } catch (...) {
        destroy();
        throw;
    }
}

Swapchain::~Swapchain() {
    vkDeviceWaitIdle(gpu_.device());
    destroy();
}

void Swapchain::destroy() {
    destroy_frames();
    vkDestroySwapchainKHR(gpu_.device(), swapchain_, nullptr);
    vkDestroyFence(gpu_.device(), idle_, nullptr);
    vkDestroySemaphore(gpu_.device(), acquired_, nullptr);
    vkDestroyCommandPool(gpu_.device(), pool_, nullptr);
    vkDestroyRenderPass(gpu_.device(), below_pass_, nullptr);
    vkDestroyRenderPass(gpu_.device(), above_pass_, nullptr);
}

// 8-bit UNORM without sRGB conversion: colours are sRGB values already, as in SVG.
void Swapchain::choose_format() {
    std::uint32_t count = 0;
    check_vulkan(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical(), gpu_.surface(), &count, nullptr),
                 "vkGetPhysicalDeviceSurfaceFormatsKHR");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check_vulkan(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_.physical(), gpu_.surface(), &count, formats.data()),
                 "vkGetPhysicalDeviceSurfaceFormatsKHR");
    const auto found = std::find_if(formats.begin(), formats.end(), [](const VkSurfaceFormatKHR& format) {
        return is_bgra(format.format) || format.format == VK_FORMAT_R8G8B8A8_UNORM;
    });
    if (found == formats.end()) {
        throw Error(gpu_.name() + " does not support a surface format with 8 bits per channel (B8G8R8A8 or R8G8B8A8)");
    }
    format_ = *found;
}

VkRenderPass Swapchain::create_render_pass(VkAttachmentLoadOp load, VkImageLayout from, VkImageLayout to) const {
    const VkAttachmentDescription colour{.format = format_.format,
                                         .samples = VK_SAMPLE_COUNT_1_BIT,
                                         .loadOp = load,
                                         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                         .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                         .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                         .initialLayout = from,
                                         .finalLayout = to};
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass{.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &reference};
    // Before and after come copies.
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags accesses = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
                                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    const VkSubpassDependency before{
        .srcSubpass = VK_SUBPASS_EXTERNAL,
        .dstSubpass = 0,
        .srcStageMask = stages,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .srcAccessMask = accesses,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    const VkSubpassDependency after{.srcSubpass = 0,
                                    .dstSubpass = VK_SUBPASS_EXTERNAL,
                                    .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                    .dstStageMask = stages,
                                    .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                    .dstAccessMask = accesses};
    const std::array dependencies{before, after};
    const VkRenderPassCreateInfo info{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                      .attachmentCount = 1,
                                      .pAttachments = &colour,
                                      .subpassCount = 1,
                                      .pSubpasses = &subpass,
                                      .dependencyCount = static_cast<std::uint32_t>(dependencies.size()),
                                      .pDependencies = dependencies.data()};
    VkRenderPass pass = VK_NULL_HANDLE;
    check_vulkan(vkCreateRenderPass(gpu_.device(), &info, nullptr, &pass), "vkCreateRenderPass");
    return pass;
}

void Swapchain::create_commands() {
    const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                       .queueFamilyIndex = gpu_.family()};
    check_vulkan(vkCreateCommandPool(gpu_.device(), &pool, nullptr, &pool_), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo commands{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               .commandPool = pool_,
                                               .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                               .commandBufferCount = 1};
    check_vulkan(vkAllocateCommandBuffers(gpu_.device(), &commands, &commands_), "vkAllocateCommandBuffers");
    const VkFenceCreateInfo fence{.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    check_vulkan(vkCreateFence(gpu_.device(), &fence, nullptr, &idle_), "vkCreateFence");
    const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    check_vulkan(vkCreateSemaphore(gpu_.device(), &semaphore, nullptr, &acquired_), "vkCreateSemaphore");
}

void Swapchain::resize(int width, int height) {
    check_vulkan(vkDeviceWaitIdle(gpu_.device()), "vkDeviceWaitIdle");
    destroy_frames();
    create(width, height);
}

void Swapchain::create(int width, int height) {
    VkSurfaceCapabilitiesKHR can;
    check_vulkan(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu_.physical(), gpu_.surface(), &can),
                 "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    extent_ = can.currentExtent;
    if (extent_.width == std::numeric_limits<std::uint32_t>::max()) {  // the surface takes the swapchain's size
        extent_.width =
            std::clamp(static_cast<std::uint32_t>(width), can.minImageExtent.width, can.maxImageExtent.width);
        extent_.height =
            std::clamp(static_cast<std::uint32_t>(height), can.minImageExtent.height, can.maxImageExtent.height);
    }
    const std::uint32_t most = can.maxImageCount == 0 ? std::numeric_limits<std::uint32_t>::max() : can.maxImageCount;
    if ((can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT) == 0) {
        throw Error(gpu_.name() + " does not support copying images to this window");
    }
    can_copy_ = (can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT) != 0;
    const VkImageUsageFlags copied = can_copy_ ? static_cast<VkImageUsageFlags>(VK_IMAGE_USAGE_TRANSFER_SRC_BIT) : 0U;
    const VkSwapchainKHR old = swapchain_;
    const VkSwapchainCreateInfoKHR info{
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = gpu_.surface(),
        .minImageCount = std::min(std::max(can.minImageCount, 2U), most),
        .imageFormat = format_.format,
        .imageColorSpace = format_.colorSpace,
        .imageExtent = extent_,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | copied,
        .imageSharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .preTransform = can.currentTransform,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
        .oldSwapchain = old};
    check_vulkan(vkCreateSwapchainKHR(gpu_.device(), &info, nullptr, &swapchain_), "vkCreateSwapchainKHR");
    vkDestroySwapchainKHR(gpu_.device(), old, nullptr);
    create_frames();
}

void Swapchain::create_frames() {
    kept_.emplace(gpu_, format_.format, extent_, below_pass_);
    std::uint32_t count = 0;
    check_vulkan(vkGetSwapchainImagesKHR(gpu_.device(), swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR");
    std::vector<VkImage> images(count);
    check_vulkan(vkGetSwapchainImagesKHR(gpu_.device(), swapchain_, &count, images.data()), "vkGetSwapchainImagesKHR");
    for (const VkImage image : images) {
        Frame& frame = frames_.emplace_back();
        frame.image = image;
        const VkImageViewCreateInfo view{
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = image,
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = format_.format,
            .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
        check_vulkan(vkCreateImageView(gpu_.device(), &view, nullptr, &frame.view), "vkCreateImageView");
        const VkFramebufferCreateInfo framebuffer{.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                  .renderPass = above_pass_,
                                                  .attachmentCount = 1,
                                                  .pAttachments = &frame.view,
                                                  .width = extent_.width,
                                                  .height = extent_.height,
                                                  .layers = 1};
        check_vulkan(vkCreateFramebuffer(gpu_.device(), &framebuffer, nullptr, &frame.framebuffer),
                     "vkCreateFramebuffer");
        const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        check_vulkan(vkCreateSemaphore(gpu_.device(), &semaphore, nullptr, &frame.drawn), "vkCreateSemaphore");
    }
}

void Swapchain::destroy_frames() {
    for (const Frame& frame : frames_) {
        vkDestroySemaphore(gpu_.device(), frame.drawn, nullptr);
        vkDestroyFramebuffer(gpu_.device(), frame.framebuffer, nullptr);
        vkDestroyImageView(gpu_.device(), frame.view, nullptr);
    }
    frames_.clear();
    kept_.reset();
}

}  // namespace headscope::viewer
