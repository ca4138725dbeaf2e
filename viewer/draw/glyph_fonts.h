// Fonts of single glyphs for Dear ImGui, which draws characters, while a shaped text consists of glyphs. Each typeface
// in use is loaded with a character table of its own, in which private characters (U+E000 on) name the glyphs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <imgui.h>

#include "paint/typesetter.h"

namespace headscope::viewer {

// The font file with another character table: U+E000 is the first of these glyphs, and so on.
std::vector<std::uint8_t> with_private_characters(std::span<const std::uint8_t> font, std::size_t offset,
                                                  std::span<const std::uint32_t> glyphs);

class GlyphFonts {
public:
    // Of a glyph in the typeface, whose fonts may have to be loaded again for it. 0 if there are more glyphs than
    // private characters.
    ImWchar character_of(const SetGlyph& glyph);
    // Whether all characters are loaded.
    bool complete() const { return complete_; }

    // Adds all typefaces to Dear ImGui's empty atlas, in these sizes of the text (pixels).
    void load(std::span<const float> sizes);
    // The font of this size or the next larger one. nullptr if the typeface is not loaded.
    ImFont* font(const Typeface& face, float size) const;

private:
    struct Use {
        Typeface* face;
        std::map<std::uint32_t, ImWchar> characters = {};
        std::vector<std::uint32_t> glyphs = {};
        std::vector<std::uint8_t> file = {};  // Dear ImGui reads it until its atlas is built
        std::vector<ImWchar> range = {};
        std::map<float, ImFont*> fonts = {};  // by text size
    };
    std::map<const Typeface*, Use> uses_;
    bool complete_ = true;
};

}  // namespace headscope::viewer
