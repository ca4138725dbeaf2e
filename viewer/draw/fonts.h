// The embedded font in the sizes that the window uses.
#pragma once

#include <string_view>
#include <vector>

#include <imgui.h>

namespace headscope::viewer {

class Fonts {
public:
    // Fills Dear ImGui's empty font atlas. `scale` multiplies all sizes.
    void build(float scale);

    ImFont* text() const { return text_; }
    ImFont* bold() const { return bold_; }
    ImFont* large() const { return large_; }
    // The best face to draw this text with a line height of `size` pixels: of that size or the next larger one, with
    // all of its characters.
    ImFont* fitting(float size, bool bold, std::string_view text) const;
    float text_size() const { return size_; }
    float large_size() const;

private:
    struct Face {
        float size;
        bool bold;
        bool latin;  // has only Latin letters
        ImFont* font;
    };
    ImFont* add(float size, bool bold, const ImWchar* ranges);

    std::vector<Face> faces_;  // by increasing size
    ImFont* text_ = nullptr;
    ImFont* bold_ = nullptr;
    ImFont* large_ = nullptr;
    float size_ = 15.0F;
};

// The width of a text in pixels.
float width_of(ImFont* font, float size, const char* begin, const char* end);

}  // namespace headscope::viewer
