// The colours of everything that is no head: light as the paper is, or dark.
#pragma once

#include "paint/palette.h"

namespace headscope {

// Text of `text` or `faint` on `paper`, `chosen` and `surface` has a contrast of 4.5 or more (WCAG AA).
struct Ink {
    Colour paper;
    Colour text;
    Colour faint;    // texts that stand back: notes, numbers of axes
    Colour off;      // the number of a head that is off
    Colour rule;     // lines that help the eye
    Colour chosen;   // the cell of a chosen word
    Colour surface;  // what blocks and frames are filled with
    Colour accent;   // bars, curves and what is best
    Colour warning;  // the other of two: below zero, worse, fallen
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

// A head's colour as lines of it are seen on this paper: on light paper the palette's own, on dark paper those too dark
// to be seen are lightened.
Colour head_colour(Palette palette, int head, const Ink& ink);
// The same as a ground of this opacity that the ink's text is read on: on dark paper darkened until it can be.
Colour ground_under_text(Colour colour, const Ink& ink, double alpha = 1.0);
// What a swatch shows while its head is off: four fifths of the way to the paper.
Colour faded(Colour colour, const Ink& ink);

// `share` 0: a, 1: b.
Colour mixed(Colour a, Colour b, double share);
// WCAG's contrast ratio, 1 to 21.
double contrast(Colour a, Colour b);

// A number from 0 to 1 as a colour: 0 is the paper, and lightness changes all the way, so that it can be read without
// seeing hues.
Colour scale_colour(double value, const Ink& ink);
// From -1 (blue) over 0 (paper) to 1 (orange), which stay apart for all common forms of colour blindness.
Colour diverging_colour(double value, const Ink& ink);

}  // namespace headscope
