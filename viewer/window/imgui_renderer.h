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
    // What ImGui::Render() left. See Swapchain::draw. A frame that looks like the one before is not drawn again, unless
    // it is wanted as a picture: a pointer that moves over nothing costs no drawing.
    bool draw(Swapchain& swapchain, Picture* picture);
    // The next frame is drawn whatever it looks like.
    void forget_shown() { shown_ = 0; }

private:
    void start();

    const Gpu& gpu_;
    Swapchain& swapchain_;
    VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
    bool started_ = false;
    std::uint64_t shown_ = 0;  // a hash of what was drawn last; 0: nothing
};

}  // namespace headscope::viewer
