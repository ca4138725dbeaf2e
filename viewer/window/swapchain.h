// The window's swapchain. Recreated when the window is resized.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "viewer/window/gpu.h"
#include "viewer/window/kept_image.h"

namespace headscope::viewer {

// RGBA, 8 bits each, rows from top to bottom.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels;
};

class Swapchain {
public:
    Swapchain(const Gpu& gpu, int width, int height);
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;
    ~Swapchain();

    // Of both passes, which are compatible.
    VkRenderPass render_pass() const { return above_pass_; }
    std::uint32_t images() const { return static_cast<std::uint32_t>(frames_.size()); }

    void resize(int width, int height);

    using Record = std::function<void(VkCommandBuffer)>;

    // Records a frame, presents it, and copies it to `picture` unless that is null. `below` is drawn over `background`
    // (RGB, 0 to 1) and kept; if it is empty, the last one stays. `above` is drawn on top. False if the window was
    // resized: call resize() and draw both again.
    bool draw(const float background[3], const Record& below, const Record& above, Picture* picture);

    // Runs commands immediately and waits for them.
    void run_now(const Record& record);

private:
    struct Frame {
        VkImage image = VK_NULL_HANDLE;
        VkImageView view = VK_NULL_HANDLE;
        VkFramebuffer framebuffer = VK_NULL_HANDLE;
        VkSemaphore drawn = VK_NULL_HANDLE;
    };
    // A buffer to copy a frame into.
    struct Readback {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    void create(int width, int height);
    void choose_format();
    VkRenderPass create_render_pass(VkAttachmentLoadOp load, VkImageLayout from, VkImageLayout to) const;
    void record_frame(VkImage image, VkFramebuffer framebuffer, const float background[3], const Record& below,
                      const Record& above);
    void create_commands();
    void create_frames();
    void destroy_frames();
    void destroy();
    Readback start_readback(VkImage image);
    Picture finish_readback(const Readback& readback) const;
    void free(const Readback& readback) const;

    const Gpu& gpu_;
    VkSurfaceFormatKHR format_{};
    bool can_copy_ = false;
    VkExtent2D extent_{};
    VkRenderPass below_pass_ = VK_NULL_HANDLE;  // clears, then draws into kept_
    VkRenderPass above_pass_ = VK_NULL_HANDLE;  // draws over what was copied from kept_
    std::optional<KeptImage> kept_;
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence idle_ = VK_NULL_HANDLE;  // of commands_
    VkSemaphore acquired_ = VK_NULL_HANDLE;
    std::vector<Frame> frames_;
};

}  // namespace headscope::viewer
