// Which control has the keyboard: Tab goes through all controls of the window, or of the dialog or menu that is open,
// in the order in which they are drawn. Dear ImGui draws a ring around it, and Space, Enter and the arrows are its own.
#pragma once

#include <string>
#include <vector>

#include <imgui.h>

struct ImGuiWindow;

namespace headscope::viewer {

class Focus {
public:
    struct Control {
        std::string name;
        ImGuiID id = 0;
        const ImGuiWindow* part = nullptr;  // of the window: a side bar, a panel, a menu
        const ImGuiWindow* root = nullptr;  // the window, a dialog or a menu
    };

    // Whether a control has the keyboard. Otherwise letters, arrows and Space are those of the commands.
    bool on() const { return on_ && lost_ <= kFramesToShow; }
    // Gives it to the next control, or to the one before.
    void step(int by);
    // To the first control of the next part of the window.
    void step_part(int by);
    void move_to(const std::string& name);
    void leave();
    // Whether a menu or a list is open.
    static bool in_menu();
    // Closes the innermost one.
    void close_menu();
    // For this frame Tab stays in the window that is being drawn: a dialog, even one without controls.
    void stay_here();

    // Around the controls of a frame.
    void begin_frame();
    void end_frame();
    // Dear ImGui's last item is a control of this name, unless it only shows text.
    void item(const std::string& name);

    // Those of the last frame that Tab goes through.
    const std::vector<Control>& controls() const { return controls_; }
    // The control that has the keyboard; empty if none has.
    std::string name() const;

private:
    static constexpr int kFramesToShow = 1;  // after which a control that gets the keyboard has been drawn

    std::ptrdiff_t place() const;  // in controls_; -1: none has the keyboard

    std::vector<Control> controls_, drawn_;
    const ImGuiWindow* dialog_ = nullptr;  // of stay_here()
    ImGuiID wanted_ = 0;                   // gets the keyboard when it is drawn
    bool on_ = false;
    bool release_ = false;  // ends typing in this frame
    int close_from_ = -1;   // closes menus from this level on in this frame; -1: none
    int lost_ = 0;          // frames since the control that has the keyboard was drawn
};

// Whether the last item is pointed at by the keyboard, not by the mouse.
bool keyboard_points_at_item();

}  // namespace headscope::viewer
