// The fonts of the window: the embedded one in several sizes, and the system's for characters that it lacks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

#include "viewer/draw/glyph_fonts.h"

namespace headscope::viewer {

class Fonts {
public:
    // `find`: fonts of the system.
    explicit Fonts(FontFinder find = system_fonts) : typesetter_(std::move(find)) {}
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

    // A text of a drawing, unless its letters stand side by side in the embedded font: then nullptr, and fitting() has
    // a face for it.
    const SetText* set(const std::string& text, bool bold);
    GlyphFonts& glyphs() { return glyphs_; }
    // A text that Dear ImGui draws: characters that the embedded font lacks have to be loaded. They are not joined.
    void need(std::string_view text);
    // Whether everything is loaded that the last frame needed. If not, call build() before the next one.
    bool complete() const { return complete_ && glyphs_.complete(); }

private:
    struct Face {
        float size;
        bool bold;
        bool latin;  // has only Latin letters
        ImFont* font;
    };
    ImFont* add(float size, bool bold, const ImWchar* ranges);
    void add_needed(ImFontConfig config, float size);

    std::vector<Face> faces_;  // by increasing size
    ImFont* text_ = nullptr;
    ImFont* bold_ = nullptr;
    ImFont* large_ = nullptr;
    float size_ = 15.0F;
    Typesetter typesetter_;
    GlyphFonts glyphs_;
    std::map<std::pair<std::string, bool>, SetText> set_;  // of drawings
    // The characters that the system's fonts add, as ranges that end with 0.
    std::map<Typeface*, std::vector<ImWchar>> needed_;
    bool complete_ = true;
};

// Of the embedded font, in units of the text size. Dear ImGui measures sizes by line height.
constexpr float kLineHeight = 1.164F;
constexpr float kAscent = 0.928F;  // from the top of a line to the baseline

// The width of a text in pixels.
float width_of(ImFont* font, float size, const char* begin, const char* end);

}  // namespace headscope::viewer
