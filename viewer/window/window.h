// A desktop window with Dear ImGui. Draws frames only on input or wake().
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
    // HEADSCOPE_VULKAN_VALIDATION; also DISPLAY and WAYLAND_DISPLAY, only for error messages (GLFW reads them itself).
    Settings settings = {};
    // Takes input only from play() and ignores the pointer and keyboard.
    bool scripted = false;
};

class Window {
public:
    // Error without a display or a Vulkan device that can draw on it. Only one window at a time.
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
        bool operator==(const Size&) const = default;
    };
    Size size() const;  // for set_size(); in full screen, the size to restore
    bool minimised() const;
    // The display's scale factor: 1, 1.25, 2 ...
    float content_scale() const;
    const std::string& gpu() const;

    // Sets the function that fills the font atlas and sets the style: called at once, and before the frame after
    // request_fonts().
    void on_fonts(std::function<void()> build);
    void request_fonts();

    // Waits for something to draw: input, a wake(), pending frames after an input, or a timeout in seconds (0: none).
    void wait(double seconds);
    // Processes pending events without waiting.
    void poll();
    // From any thread.
    static void wake();

    // Draws a frame that `build` defines with Dear ImGui, and copies it to `picture` unless that is null.
    void frame(const std::function<void()>& build, Picture* picture = nullptr);

    // The keys pressed and the paths dropped on the window since the last call, in order.
    std::vector<Chord> take_chords();
    std::vector<std::string> take_dropped();

    // Simulates a user event for the next frame.
    void play(const InputEvent& event);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::viewer
