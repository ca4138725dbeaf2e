// Turns a text into glyphs: of the embedded font, or of the system's for characters that it lacks. Letters are joined
// (HarfBuzz) and put into the order in which they are read (FriBidi).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "paint/typeface.h"

namespace headscope {

struct SetGlyph {
    Typeface* face = nullptr;
    std::uint32_t index = 0;
    Point at{};  // its origin, from the beginning of the text on the baseline, in units of the text size
};

struct SetText {
    std::vector<SetGlyph> glyphs;
    double width = 0.0;
};

class Typesetter {
public:
    explicit Typesetter(FontFinder find = system_fonts);

    // The faces live as long as the typesetter. Characters that no font has are Typeface::kMissing; invisible ones
    // (joiners, variation selectors) have no glyph.
    SetText set(std::string_view text, bool bold);
    // Whether the embedded font draws it letter by letter.
    bool is_plain(std::string_view text, bool bold) const;
    // The face that draws the character.
    Typeface& face_for(char32_t character, bool bold);

private:
    SetText set_plain(std::span<const std::uint32_t> text, bool bold);
    Typeface* system_face_for(char32_t character, bool bold);

    FontFinder find_;
    std::array<Typeface, 2> embedded_;  // regular, bold
    struct Opened {
        Opened(const FontFile& a_file, bool is_bold) : file(a_file), bold(is_bold), face(a_file) {}
        FontFile file;
        bool bold;
        Typeface face;
    };
    std::deque<Opened> opened_;
    std::map<std::pair<char32_t, bool>, Typeface*> known_;
};

}  // namespace headscope
