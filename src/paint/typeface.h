// A font, and the outlines of its glyphs in units of the text size, y upwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "paint/drawing.h"
#include "paint/system_fonts.h"

struct hb_font_t;

namespace headscope {

struct Glyph {
    double advance = 0.0;
    std::vector<std::vector<Point>> contours;  // closed; curves are flattened to segments
};

class Typeface {
public:
    // The glyph of characters that a font lacks: an empty box.
    static constexpr std::uint32_t kMissing = 0;

    // The embedded font.
    explicit Typeface(bool bold);
    // Error that names the file if it is no font with outlines.
    explicit Typeface(const FontFile& file);
    ~Typeface();
    Typeface(const Typeface&) = delete;
    Typeface& operator=(const Typeface&) = delete;

    // kMissing if the font lacks it.
    std::uint32_t index_of(char32_t character) const;
    // By its index in the font.
    const Glyph& glyph(std::uint32_t index);

    hb_font_t* shaper() const;   // in the font's units
    double units() const;        // in the text size
    double line_height() const;  // from the ascenders to the descenders, in units of the text size
    // The file, which may contain several fonts, and where this one begins.
    std::span<const std::uint8_t> bytes() const;
    std::size_t offset() const;
    int face() const;

private:
    struct Font;
    std::unique_ptr<Font> font_;
    std::unordered_map<std::uint32_t, Glyph> glyphs_;
};

}  // namespace headscope
