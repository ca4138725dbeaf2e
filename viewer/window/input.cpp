#include "viewer/window/input.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include "support/check.h"

namespace headscope::viewer {

namespace {

struct Name {
    std::string_view text;
    int code;
};

constexpr std::array kModifiers{Name{"Ctrl", GLFW_MOD_CONTROL}, Name{"Shift", GLFW_MOD_SHIFT},
                                Name{"Alt", GLFW_MOD_ALT}};

constexpr std::array kKeys{
    Name{"Enter", GLFW_KEY_ENTER},
    Name{"Escape", GLFW_KEY_ESCAPE},
    Name{"Tab", GLFW_KEY_TAB},
    Name{"Space", GLFW_KEY_SPACE},
    Name{"Backspace", GLFW_KEY_BACKSPACE},
    Name{"Delete", GLFW_KEY_DELETE},
    Name{"Left", GLFW_KEY_LEFT},
    Name{"Right", GLFW_KEY_RIGHT},
    Name{"Up", GLFW_KEY_UP},
    Name{"Down", GLFW_KEY_DOWN},
    Name{"Home", GLFW_KEY_HOME},
    Name{"End", GLFW_KEY_END},
    Name{"PageUp", GLFW_KEY_PAGE_UP},
    Name{"PageDown", GLFW_KEY_PAGE_DOWN},
    Name{"F1", GLFW_KEY_F1},
    Name{"F2", GLFW_KEY_F2},
    Name{"F5", GLFW_KEY_F5},
    Name{"F6", GLFW_KEY_F6},
    Name{"F10", GLFW_KEY_F10},
    Name{"F11", GLFW_KEY_F11},
    Name{"Plus", GLFW_KEY_EQUAL},
    Name{"Minus", GLFW_KEY_MINUS},
    Name{"Comma", GLFW_KEY_COMMA},
    Name{"LeftBracket", GLFW_KEY_LEFT_BRACKET},
    Name{"RightBracket", GLFW_KEY_RIGHT_BRACKET},
    Name{"Period", GLFW_KEY_PERIOD},
    Name{"Slash", GLFW_KEY_SLASH},
};

#if IMGUI_VERSION_NUM >= 18700
ImGuiKey imgui_key(int code) {
    if (code >= GLFW_KEY_A && code <= GLFW_KEY_Z) {
        return static_cast<ImGuiKey>(ImGuiKey_A + (code - GLFW_KEY_A));
    }
    if (code >= GLFW_KEY_0 && code <= GLFW_KEY_9) {
        return static_cast<ImGuiKey>(ImGuiKey_0 + (code - GLFW_KEY_0));
    }
    switch (code) {
        case GLFW_KEY_ENTER: return ImGuiKey_Enter;
        case GLFW_KEY_ESCAPE: return ImGuiKey_Escape;
        case GLFW_KEY_TAB: return ImGuiKey_Tab;
        case GLFW_KEY_SPACE: return ImGuiKey_Space;
        case GLFW_KEY_BACKSPACE: return ImGuiKey_Backspace;
        case GLFW_KEY_DELETE: return ImGuiKey_Delete;
        case GLFW_KEY_LEFT: return ImGuiKey_LeftArrow;
        case GLFW_KEY_RIGHT: return ImGuiKey_RightArrow;
        case GLFW_KEY_UP: return ImGuiKey_UpArrow;
        case GLFW_KEY_DOWN: return ImGuiKey_DownArrow;
        case GLFW_KEY_HOME: return ImGuiKey_Home;
        case GLFW_KEY_END: return ImGuiKey_End;
        case GLFW_KEY_PAGE_UP: return ImGuiKey_PageUp;
        case GLFW_KEY_PAGE_DOWN: return ImGuiKey_PageDown;
        default: return ImGuiKey_None;
    }
}

void feed_key(const InputEvent& event) {
    ImGuiIO& io = ImGui::GetIO();
    io.AddKeyEvent(ImGuiMod_Ctrl, (event.modifiers & GLFW_MOD_CONTROL) != 0 && event.down);
    io.AddKeyEvent(ImGuiMod_Shift, (event.modifiers & GLFW_MOD_SHIFT) != 0 && event.down);
    io.AddKeyEvent(ImGuiMod_Alt, (event.modifiers & GLFW_MOD_ALT) != 0 && event.down);
    if (const ImGuiKey key = imgui_key(event.code); key != ImGuiKey_None) {
        io.AddKeyEvent(key, event.down);
    }
}
#else
void feed_key(const InputEvent& event) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = (event.modifiers & GLFW_MOD_CONTROL) != 0 && event.down;
    io.KeyShift = (event.modifiers & GLFW_MOD_SHIFT) != 0 && event.down;
    io.KeyAlt = (event.modifiers & GLFW_MOD_ALT) != 0 && event.down;
    io.KeysDown[event.code] = event.down;
}
#endif

}  // namespace

Chord parse_chord(const std::string& text) {
    Chord chord;
    std::string_view rest = text;
    for (bool found = true; found;) {
        found = false;
        for (const Name& modifier : kModifiers) {
            if (rest.starts_with(modifier.text) && rest.size() > modifier.text.size() &&
                rest[modifier.text.size()] == '+') {
                chord.modifiers |= modifier.code;
                rest.remove_prefix(modifier.text.size() + 1);
                found = true;
            }
        }
    }
    for (const Name& key : kKeys) {
        if (rest == key.text) {
            chord.key = key.code;
            return chord;
        }
    }
    if (rest.size() == 1 && std::isalnum(static_cast<unsigned char>(rest[0])) != 0) {
        chord.key = std::toupper(static_cast<unsigned char>(rest[0]));  // GLFW uses ASCII capitals and digits
        return chord;
    }
    throw Error("unknown key \"" + text +
                "\": expected a letter, a digit, Enter, Left, F1 ..., optionally after Ctrl+, Shift+ or Alt+");
}

std::string to_string(const Chord& chord) {
    std::string text;
    for (const Name& modifier : kModifiers) {
        if ((chord.modifiers & modifier.code) != 0) {
            text += std::string(modifier.text) + "+";
        }
    }
    for (const Name& key : kKeys) {
        if (key.code == chord.key) {
            return text + std::string(key.text);
        }
    }
    return text + static_cast<char>(chord.key);
}

std::string utf8_of(unsigned character) {
    std::string text;
    int rest = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    constexpr unsigned kLead[] = {0x00, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(kLead[rest] | character >> (6 * rest));
    while (rest-- > 0) {
        text += static_cast<char>(0x80U | (character >> (6 * rest) & 0x3FU));
    }
    return text;
}

int key_labelled(const char* label, int fallback) {
    if (label == nullptr || label[0] == '\0' || label[1] != '\0') {
        return fallback;
    }
    const auto letter = static_cast<unsigned char>(label[0]);
    if (std::isalnum(letter) != 0) {
        return std::toupper(letter);
    }
    switch (letter) {
        case '+':
        case '=': return GLFW_KEY_EQUAL;
        case '-': return GLFW_KEY_MINUS;
        case ',': return GLFW_KEY_COMMA;
        case '.': return GLFW_KEY_PERIOD;
        case '/': return GLFW_KEY_SLASH;
        default: return fallback;
    }
}

void feed_imgui(const InputEvent& event) {
    if (event.kind == InputEvent::Kind::Key && event.code == GLFW_KEY_TAB) {
        return;  // Focus steps through all controls; Dear ImGui's steps depend on its version
    }
    ImGuiIO& io = ImGui::GetIO();
    switch (event.kind) {
#if IMGUI_VERSION_NUM >= 18700
        case InputEvent::Kind::Move:
            io.AddMousePosEvent(static_cast<float>(event.x), static_cast<float>(event.y));
            break;
        case InputEvent::Kind::Button: io.AddMouseButtonEvent(event.code, event.down); break;
        case InputEvent::Kind::Wheel:
            io.AddMouseWheelEvent(static_cast<float>(event.x), static_cast<float>(event.y));
            break;
#else
        case InputEvent::Kind::Move:
            io.MousePos = ImVec2(static_cast<float>(event.x), static_cast<float>(event.y));
            break;
        case InputEvent::Kind::Button: io.MouseDown[event.code] = event.down; break;
        case InputEvent::Kind::Wheel:
            io.MouseWheelH += static_cast<float>(event.x);
            io.MouseWheel += static_cast<float>(event.y);
            break;
#endif
        case InputEvent::Kind::Key: feed_key(event); break;
        case InputEvent::Kind::Text: io.AddInputCharactersUTF8(event.text.c_str()); break;
    }
}

void feed_enter() {
#if IMGUI_VERSION_NUM < 18700
    ImGuiIO& io = ImGui::GetIO();
    io.NavInputs[ImGuiNavInput_Activate] = io.KeysDown[GLFW_KEY_ENTER] ? 1.0F : 0.0F;
#endif
}

}  // namespace headscope::viewer
