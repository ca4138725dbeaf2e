// Input as plain data: what the window's callbacks report, what a script plays back and a recorder writes down.
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

// A chord as people write it, such as "Ctrl+Shift+P", "F1", "Left" or "?".
struct Chord {
    int key = 0;
    int modifiers = 0;
    bool operator==(const Chord&) const = default;
};

// Error naming what was not understood.
Chord parse_chord(const std::string& text);
std::string to_string(const Chord& chord);
// Whether it can be written and read back: not Ctrl alone, and no key without a name.
bool has_name(const Chord& chord);

// One character of Unicode as UTF-8.
std::string utf8_of(unsigned character);

// The key that carries what `printed` says, such as "z", on whatever keyboard; `otherwise` where that has no name.
int key_printed(const char* printed, int otherwise);

// Gives an event to Dear ImGui, which is between two frames.
void feed_imgui(const InputEvent& event);

}  // namespace headscope::viewer
