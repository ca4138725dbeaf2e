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
    // picture is requested: this makes idle pointer movement free.
    bool draw(Swapchain& swapchain, Picture* picture);
    // Forces the next frame to be drawn.
    void forget_shown() { shown_ = 0; }

private:
    void start();

    const Gpu& gpu_;
    Swapchain& swapchain_;
    VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
    bool started_ = false;
    std::uint64_t shown_ = 0;  // a hash of the last frame; 0: none
};

}  // namespace headscope::viewer
