// The shipped font in the sizes that the window uses.
#pragma once

#include <string_view>
#include <vector>

#include <imgui.h>

namespace headscope::viewer {

class Fonts {
public:
    // Fills Dear ImGui's atlas, which is empty. `scale` 1: text of 15 pixels.
    void build(float scale);

    ImFont* text() const { return text_; }
    ImFont* bold() const { return bold_; }
    ImFont* large() const { return large_; }
    // The face for this text at `size` pixels a line: made for that size or the next larger one there is that has its
    // letters.
    ImFont* fitting(float size, bool bold, std::string_view text) const;
    float text_size() const { return size_; }
    float large_size() const;

private:
    struct Face {
        float size;
        bool bold;
        bool latin;  // no other letters
        ImFont* font;
    };
    ImFont* add(float size, bool bold, const ImWchar* ranges);

    std::vector<Face> faces_;  // rising by size
    ImFont* text_ = nullptr;
    ImFont* bold_ = nullptr;
    ImFont* large_ = nullptr;
    float size_ = 15.0F;
};

// How wide `text` is in this face at this size, in pixels.
float width_of(ImFont* font, float size, const char* begin, const char* end);

}  // namespace headscope::viewer
