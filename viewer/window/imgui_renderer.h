// Dear ImGui's context and its two backends, whichever of its versions is installed.
#pragma once

#include <functional>

#include "viewer/window/swapchain.h"

namespace headscope::viewer {

class ImguiRenderer {
public:
    // With `listen` Dear ImGui hears the window's callbacks.
    ImguiRenderer(const Gpu& gpu, Swapchain& swapchain, GLFWwindow* window, bool listen);
    ImguiRenderer(const ImguiRenderer&) = delete;
    ImguiRenderer& operator=(const ImguiRenderer&) = delete;
    ~ImguiRenderer();

    // Empties the atlas, lets `build` fill it and hands it to the device.
    void rebuild_fonts(const std::function<void()>& build);
    // Before ImGui::NewFrame().
    void begin_frame();
    // What ImGui::Render() left. See Swapchain::draw.
    bool draw(Swapchain& swapchain, Picture* picture);

private:
    void start();

    const Gpu& gpu_;
    Swapchain& swapchain_;
    VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
    bool started_ = false;
};

}  // namespace headscope::viewer
