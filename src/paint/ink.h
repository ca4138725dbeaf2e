// The colours of a figure except those of heads: a light theme, as in the paper, and a dark one.
#pragma once

#include "paint/palette.h"

namespace headscope {

// `text` and `faint` have a contrast of at least 4.5 (WCAG AA) on `paper`, `chosen` and `surface`.
struct Ink {
    Colour paper;
    Colour text;
    Colour faint;    // secondary text: notes, axis numbers
    Colour off;      // the number of a head that is off
    Colour rule;     // guide lines
    Colour chosen;   // the cell of a chosen word
    Colour surface;  // fill of blocks and frames
    Colour accent;   // bars, curves, the best of several
    Colour warning;  // negative, worse or pruned
    bool dark = false;
    bool operator==(const Ink&) const = default;
};

constexpr Ink kLightInk{
    .paper = kWhite,
    .text = kBlack,
    .faint = {0x55, 0x55, 0x55},
    .off = {0x70, 0x70, 0x70},
    .rule = {0xd8, 0xd8, 0xd8},
    .chosen = {0xd3, 0xd3, 0xd3},
    .surface = {0xf3, 0xf3, 0xf1},
    .accent = {0x1f, 0x6f, 0xb0},
    .warning = {0xb8, 0x4a, 0x00},
    .dark = false,
};
constexpr Ink kDarkInk{
    .paper = {0x1d, 0x1f, 0x23},
    .text = {0xec, 0xec, 0xea},
    .faint = {0xb4, 0xb8, 0xbf},
    .off = {0x92, 0x96, 0x9d},
    .rule = {0x3c, 0x40, 0x47},
    .chosen = {0x41, 0x46, 0x4f},
    .surface = {0x2a, 0x2d, 0x33},
    .accent = {0x6f, 0xb6, 0xec},
    .warning = {0xf0, 0x9a, 0x52},
    .dark = true,
};

// A head's colour for lines on this background: the palette's on light paper, lightened where too dark on dark paper.
Colour head_colour(Palette palette, int head, const Ink& ink);
// A background colour of this opacity for the ink's text: darkened on dark paper until the text is readable.
Colour ground_under_text(Colour colour, const Ink& ink, double alpha = 1.0);
// The swatch of a head that is off: 80 % of the way to the paper.
Colour faded(Colour colour, const Ink& ink);

// `share` 0: a, 1: b.
Colour mixed(Colour a, Colour b, double share);
// WCAG's contrast ratio, 1 to 21.
double contrast(Colour a, Colour b);

// Maps 0 to 1 to a colour. 0 is the paper; lightness is monotonic, so the scale is readable without hue.
Colour scale_colour(double value, const Ink& ink);
// Maps -1 (blue) over 0 (paper) to 1 (orange), safe for all common forms of colour blindness.
Colour diverging_colour(double value, const Ink& ink);

}  // namespace headscope
