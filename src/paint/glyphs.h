// Glyph outlines of the font, in units of the text size, y upwards.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "paint/drawing.h"

namespace headscope {

struct Glyph {
    double advance = 0.0;
    std::vector<std::vector<Point>> contours;  // closed; curves are flattened to segments
};

class Glyphs {
public:
    Glyphs();
    ~Glyphs();
    Glyphs(const Glyphs&) = delete;
    Glyphs& operator=(const Glyphs&) = delete;

    // Characters that the font lacks are an empty box; invisible ones (joiners, variation selectors) are empty.
    const Glyph& of(char32_t character, bool bold);

private:
    struct Fonts;
    std::unique_ptr<Fonts> fonts_;
    std::map<std::pair<char32_t, bool>, Glyph> known_;
};

}  // namespace headscope
