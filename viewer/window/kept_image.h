// An image of the size of the window that keeps what one frame drew for the next ones.
#pragma once

#include <functional>

#include "viewer/window/gpu.h"

namespace headscope::viewer {

class KeptImage {
public:
    // `pass` draws into the image and leaves it in the layout TRANSFER_SRC_OPTIMAL.
    KeptImage(const Gpu& gpu, VkFormat format, VkExtent2D extent, VkRenderPass pass);
    KeptImage(const KeptImage&) = delete;
    KeptImage& operator=(const KeptImage&) = delete;
    ~KeptImage();

    VkImage image() const { return image_; }
    VkFramebuffer framebuffer() const { return framebuffer_; }

private:
    void create(VkFormat format, VkExtent2D extent, VkRenderPass pass);
    void destroy();

    const Gpu& gpu_;
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
    VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
};

}  // namespace headscope::viewer
