// A desktop window with Dear ImGui in it. Frames are drawn when there is input or news, and never otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/settings.h"
#include "viewer/window/input.h"
#include "viewer/window/swapchain.h"

namespace headscope::viewer {

struct WindowOptions {
    std::string title = "Headscope";
    int width = 1360;
    int height = 860;
    // HEADSCOPE_VULKAN_VALIDATION; DISPLAY and WAYLAND_DISPLAY, which GLFW reads itself, for the advice.
    Settings settings = {};
    // Input comes from play() alone: the pointer and the keyboard of the desktop are ignored.
    bool scripted = false;
};

class Window {
public:
    // Error when there is no display, or no Vulkan device that draws on it. One window at a time.
    explicit Window(const WindowOptions& options);
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window();

    bool close_requested() const;
    void request_close();
    void set_title(const std::string& title);
    void set_size(int width, int height);
    void toggle_fullscreen();
    struct Size {
        int width = 0, height = 0;
    };
    Size size() const;  // as set_size() takes it; of a full screen, what it will have again
    bool minimised() const;
    // Pixels of the display for one of its nominal pixels: 1, 1.25, 2 ...
    float content_scale() const;
    const std::string& gpu() const;

    // Builds fonts and style: called at the start, and before a frame whenever request_fonts() was. It fills the atlas.
    void on_fonts(std::function<void()> build);
    void request_fonts();

    // Waits until there is something to draw: input, a wake(), frames that are still owed to the last input, or until
    // so many seconds have passed; 0: without an end.
    void wait(double seconds);
    // Takes in what there is, without waiting.
    void poll();
    // From any thread.
    static void wake();

    // Draws a frame of what `build` asks Dear ImGui for. With `picture` it is copied there.
    void frame(const std::function<void()>& build, Picture* picture = nullptr);

    // What came since the last call: keys that were pressed, in order, and paths that were dropped on the window.
    std::vector<Chord> take_chords();
    std::vector<std::string> take_dropped();
    // Everything the user does from now on; nullptr ends it.
    void record(std::function<void(const InputEvent&)> recorder);

    // An event as if the user had made it, for the next frame.
    void play(const InputEvent& event);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::viewer
