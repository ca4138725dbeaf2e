// Dear ImGui's context with its GLFW and Vulkan backends; supports several versions of Dear ImGui.
#pragma once

#include <functional>

#include "viewer/window/swapchain.h"

namespace headscope::viewer {

class ImguiRenderer {
public:
    // `listen`: Dear ImGui receives the window's input events.
    ImguiRenderer(const Gpu& gpu, Swapchain& swapchain, GLFWwindow* window, bool listen);
    ImguiRenderer(const ImguiRenderer&) = delete;
    ImguiRenderer& operator=(const ImguiRenderer&) = delete;
    ~ImguiRenderer();

    // Clears the font atlas, lets `build` fill it and uploads it.
    void rebuild_fonts(const std::function<void()>& build);
    // Before ImGui::NewFrame().
    void begin_frame();
    // Draws the result of ImGui::Render(), see Swapchain::draw. Skips a frame that looks like the last one, unless a
    // picture is requested: this makes idle pointer movement free. If only tooltips changed, only these are drawn.
    bool draw(Swapchain& swapchain, Picture* picture);
    // Forces the next frame to be drawn.
    void forget_shown() { shown_ = {}; }

private:
    void start();

    const Gpu& gpu_;
    Swapchain& swapchain_;
    VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
    bool started_ = false;
    // Hashes of the last frame, without and of its tooltips; 0: none.
    struct Looks {
        std::uint64_t below = 0;
        std::uint64_t above = 0;
        bool operator==(const Looks&) const = default;
    };
    Looks shown_;
};

}  // namespace headscope::viewer
