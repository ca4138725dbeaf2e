#include "viewer/window/window.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include "support/check.h"
#include "viewer/window/imgui_renderer.h"

namespace headscope::viewer {

namespace {

// Dear ImGui shows the effect of an input one frame later, and follow-up effects in the next.
constexpr int kFramesAfterInput = 3;
constexpr int kSmallestWidth = 800;  // pixels; narrower windows leave no room for the panel
constexpr int kSmallestHeight = 560;

std::string display_advice(const Settings& settings) {
    const bool named = settings.has("DISPLAY") || settings.has("WAYLAND_DISPLAY");
    return named ? "cannot connect to the display"
                 : "there is no display (DISPLAY and WAYLAND_DISPLAY are not set). `headscope view --render FILE` and "
                   "`headscope attention -o FILE` work without one";
}

std::string glfw_problem() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text == nullptr ? std::string("no reason given") : std::string(text);
}

// GLFW's state is global to the process; it is initialised as long as the window exists.
class Glfw {
public:
    explicit Glfw(const Settings& settings) {
        if (glfwInit() != GLFW_TRUE) {
            throw Error(fmt::format("cannot open a window: {} ({})", display_advice(settings), glfw_problem()));
        }
    }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
    ~Glfw() { glfwTerminate(); }
};

class GlfwWindow {
public:
    explicit GlfwWindow(const WindowOptions& options) {
        if (glfwVulkanSupported() != GLFW_TRUE) {
            throw Error(
                "cannot open a window: there is no Vulkan loader or driver (on Debian, mesa-vulkan-drivers includes "
                "a software driver). `headscope attention -o FILE` works without one");
        }
        glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
        glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
        glfwWindowHintString(GLFW_X11_CLASS_NAME, "headscope");
        glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headscope");
        window_ = glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr);
        if (window_ == nullptr) {
            throw Error("cannot open a window: " + glfw_problem());
        }
        glfwSetWindowSizeLimits(window_, kSmallestWidth, kSmallestHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    }
    GlfwWindow(const GlfwWindow&) = delete;
    GlfwWindow& operator=(const GlfwWindow&) = delete;
    ~GlfwWindow() { glfwDestroyWindow(window_); }
    GLFWwindow* get() const { return window_; }

private:
    GLFWwindow* window_ = nullptr;
};

}  // namespace

struct Window::Impl {
    explicit Impl(const WindowOptions& wanted)
        : options(wanted), window(wanted), gpu(window.get(), wanted.settings.on("HEADSCOPE_VULKAN_VALIDATION")) {
        int width = 0;
        int height = 0;
        glfwGetFramebufferSize(window.get(), &width, &height);
        swapchain.emplace(gpu, width, height);
        glfwSetWindowUserPointer(window.get(), this);
        install_callbacks();
        renderer.emplace(gpu, *swapchain, window.get(), !wanted.scripted);
        if (!wanted.scripted) {
            keep_tab();
        }
    }

    // Dear ImGui must not see it, see feed_imgui(). Its callback calls ours.
    void keep_tab() {
        imgui_keys =
            glfwSetKeyCallback(window.get(), [](GLFWwindow* at, int key, int scancode, int action, int modifiers) {
                key == GLFW_KEY_TAB ? of(at).handle_key(key, scancode, action, modifiers)
                                    : of(at).imgui_keys(at, key, scancode, action, modifiers);
            });
    }

    // Uses the keys of the user's layout, not their positions on a US keyboard.
    void handle_key(int key, int scancode, int action, int modifiers) {
        const bool prints = key >= GLFW_KEY_SPACE && key < GLFW_KEY_ESCAPE;
        handle({.kind = InputEvent::Kind::Key,
                .code = prints ? key_labelled(glfwGetKeyName(key, scancode), key) : key,
                .down = action != GLFW_RELEASE,
                .modifiers = modifiers});
    }

    static Impl& of(GLFWwindow* window) { return *static_cast<Impl*>(glfwGetWindowUserPointer(window)); }

    // Install these before Dear ImGui's callbacks, which call them in turn.
    void install_callbacks() {
        GLFWwindow* w = window.get();
        glfwSetWindowRefreshCallback(w, [](GLFWwindow* at) {
            of(at).owed = kFramesAfterInput;
            of(at).damaged = true;
        });
        glfwSetFramebufferSizeCallback(w, [](GLFWwindow* at, int, int) { of(at).resized = true; });
        glfwSetWindowContentScaleCallback(w, [](GLFWwindow* at, float, float) { of(at).fonts_due = true; });
        glfwSetDropCallback(w, [](GLFWwindow* at, int count, const char** paths) {
            Impl& impl = of(at);
            impl.dropped.insert(impl.dropped.end(), paths, paths + count);
            impl.owed = kFramesAfterInput;
        });
        if (options.scripted) {
            return;
        }
        glfwSetCursorPosCallback(w, [](GLFWwindow* at, double x, double y) {
            of(at).handle({.kind = InputEvent::Kind::Move, .x = x, .y = y});
        });
        glfwSetMouseButtonCallback(w, [](GLFWwindow* at, int button, int action, int modifiers) {
            of(at).handle({.kind = InputEvent::Kind::Button,
                           .code = button,
                           .down = action == GLFW_PRESS,
                           .modifiers = modifiers});
        });
        glfwSetScrollCallback(w, [](GLFWwindow* at, double x, double y) {
            of(at).handle({.kind = InputEvent::Kind::Wheel, .x = x, .y = y});
        });
        glfwSetKeyCallback(w, [](GLFWwindow* at, int key, int scancode, int action, int modifiers) {
            of(at).handle_key(key, scancode, action, modifiers);
        });
        glfwSetCharCallback(w, [](GLFWwindow* at, unsigned character) {
            of(at).handle({.kind = InputEvent::Kind::Text, .text = utf8_of(character)});
        });
    }

    void handle(const InputEvent& event) {
        owed = kFramesAfterInput;
        if (event.kind == InputEvent::Kind::Key && event.down) {
            constexpr int kKnown = GLFW_MOD_CONTROL | GLFW_MOD_SHIFT | GLFW_MOD_ALT;  // ignores Caps Lock and Num Lock
            chords.push_back({event.code, event.modifiers & kKnown});
        }
    }

    // Played events follow the desktop's and persist, so that the pointer does not jump back.
    void feed_played() {
        if (!options.scripted) {
            return;
        }
        // In a script a frame always takes 1/60 s, so that double clicks work even if drawing is slow.
        ImGui::GetIO().DeltaTime = 1.0F / 60.0F;
        for (const InputEvent& event : played) {
            if (event.kind == InputEvent::Kind::Move) {
                pointer = event;
            } else if (event.kind == InputEvent::Kind::Button) {
                buttons[static_cast<std::size_t>(event.code)] = event.down;
            }
            feed_imgui(event);
        }
        played.clear();
        feed_imgui(pointer);
        for (std::size_t button = 0; button < buttons.size(); ++button) {
            feed_imgui({.kind = InputEvent::Kind::Button, .code = static_cast<int>(button), .down = buttons[button]});
        }
    }

    WindowOptions options;
    Glfw glfw{options.settings};
    GlfwWindow window;
    Gpu gpu;
    std::optional<Swapchain> swapchain;
    std::optional<ImguiRenderer> renderer;
    std::function<void()> build_fonts = [] {};
    GLFWkeyfun imgui_keys = nullptr;
    std::vector<InputEvent> played;
    InputEvent pointer{.kind = InputEvent::Kind::Move, .x = -1.0, .y = -1.0};
    std::array<bool, 3> buttons{};
    std::vector<Chord> chords;
    std::vector<std::string> dropped;
    std::array<int, 4> windowed{};  // position and size before full screen
    int owed = kFramesAfterInput;
    bool resized = false;
    bool damaged = false;  // the desktop asked for a redraw
    bool fonts_due = true;
};

Window::Window(const WindowOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Window::~Window() = default;

bool Window::close_requested() const {
    return glfwWindowShouldClose(impl_->window.get()) == GLFW_TRUE;
}
void Window::request_close() {
    glfwSetWindowShouldClose(impl_->window.get(), GLFW_TRUE);
}
void Window::set_title(const std::string& title) {
    glfwSetWindowTitle(impl_->window.get(), title.c_str());
}
void Window::set_size(int width, int height) {
    glfwSetWindowSize(impl_->window.get(), width, height);
}

void Window::toggle_fullscreen() {
    GLFWwindow* window = impl_->window.get();
    auto& [x, y, width, height] = impl_->windowed;
    if (glfwGetWindowMonitor(window) != nullptr) {
        glfwSetWindowMonitor(window, nullptr, x, y, width, height, GLFW_DONT_CARE);
    } else if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr) {
        glfwGetWindowPos(window, &x, &y);
        glfwGetWindowSize(window, &width, &height);
        const GLFWvidmode* mode = glfwGetVideoMode(monitor);
        glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
}

Window::Size Window::size() const {
    Size size;
    if (glfwGetWindowMonitor(impl_->window.get()) != nullptr) {
        return {impl_->windowed[2], impl_->windowed[3]};
    }
    glfwGetWindowSize(impl_->window.get(), &size.width, &size.height);
    return size;
}

bool Window::minimised() const {
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(impl_->window.get(), &width, &height);
    return width == 0 || height == 0;
}

float Window::content_scale() const {
    float x = 1.0F;
    float y = 1.0F;
    glfwGetWindowContentScale(impl_->window.get(), &x, &y);
    return std::max(x, y);
}

const std::string& Window::gpu() const {
    return impl_->gpu.name();
}

void Window::on_fonts(std::function<void()> build) {
    impl_->build_fonts = std::move(build);
}
void Window::request_fonts() {
    impl_->fonts_due = true;
}

void Window::wait(double seconds) {
    if (impl_->owed > 0 && !minimised()) {
        glfwPollEvents();
        return;
    }
    if (seconds > 0.0) {
        glfwWaitEventsTimeout(seconds);
    } else {
        glfwWaitEvents();
    }
    impl_->owed = std::max(impl_->owed, 1);
}

void Window::poll() {
    glfwPollEvents();
}

void Window::wake() {
    glfwPostEmptyEvent();
}

void Window::frame(const std::function<void()>& build, Picture* picture) {
    Impl& impl = *impl_;
    if (minimised()) {
        return;
    }
    impl.owed = std::max(impl.owed - 1, 0);
    if (impl.fonts_due) {
        impl.fonts_due = false;
        impl.renderer->rebuild_fonts(impl.build_fonts);
    }
    impl.renderer->begin_frame();
    impl.feed_played();
    feed_enter();
    ImGui::NewFrame();
    build();
    ImGui::Render();
    // After a resize, draw into new images; the layout is at most one frame behind.
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (std::exchange(impl.damaged, false)) {
            impl.renderer->forget_shown();
        }
        if (std::exchange(impl.resized, false)) {
            impl.renderer->forget_shown();
            int width = 0;
            int height = 0;
            glfwGetFramebufferSize(impl.window.get(), &width, &height);
            impl.swapchain->resize(width, height);
            impl.owed = kFramesAfterInput;
        }
        const bool drawn = impl.renderer->draw(*impl.swapchain, picture);
        impl.gpu.check_validation();
        if (drawn) {
            return;
        }
        impl.resized = true;
    }
}

std::vector<Chord> Window::take_chords() {
    return std::exchange(impl_->chords, {});
}
std::vector<std::string> Window::take_dropped() {
    return std::exchange(impl_->dropped, {});
}
void Window::play(const InputEvent& event) {
    impl_->played.push_back(event);
    impl_->handle(event);
}

}  // namespace headscope::viewer
