// Input events as plain data, from the window's callbacks or a script.
#pragma once

#include <string>

namespace headscope::viewer {

struct InputEvent {
    enum class Kind { Move, Button, Wheel, Key, Text };
    Kind kind = Kind::Move;
    double x = 0.0;  // Move: pixels from the window's upper left; Wheel: steps
    double y = 0.0;
    int code = 0;  // Button: 0 left, 1 right, 2 middle; Key: GLFW's key
    bool down = false;
    int modifiers = 0;      // GLFW's bits
    std::string text = {};  // UTF-8
};

// A key with modifiers, such as "Ctrl+Shift+P", "F1" or "Left".
struct Chord {
    int key = 0;
    int modifiers = 0;
    bool operator==(const Chord&) const = default;
};

// Error for an unknown key.
Chord parse_chord(const std::string& text);
std::string to_string(const Chord& chord);

// A code point as UTF-8.
std::string utf8_of(unsigned character);

// The key labelled `label` (such as "z") on the user's keyboard layout, or `fallback` if the label has no name.
int key_labelled(const char* label, int fallback);

// Passes an event to Dear ImGui; call between frames.
void feed_imgui(const InputEvent& event);
// Enter presses the control that has the keyboard, as Space does: versions before 1.87 do not do so. Call before each
// frame.
void feed_enter();

}  // namespace headscope::viewer
