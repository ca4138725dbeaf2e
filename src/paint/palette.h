// The colours of heads.
#pragma once

#include <cstdint>
#include <string>

namespace headscope {

struct Colour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    bool operator==(const Colour&) const = default;
};

constexpr Colour kBlack{0, 0, 0};
constexpr Colour kWhite{255, 255, 255};

// Paper: heads 1 to 8 as in Figures 3 to 5. OkabeIto: heads 1 to 8 from the colour-blind-safe palette. Heads 9 to 32
// have colours that differ in lightness and hue; from head 33 on colours repeat, and the numbers on the swatches
// distinguish them.
enum class Palette : std::uint8_t { Paper, OkabeIto };

constexpr int kPaletteColours = 32;

// `head` counts from 1.
Colour head_colour(Palette palette, int head);

// Black or white, whichever has the larger contrast (WCAG) with `background`.
Colour text_colour_on(Colour background);

// CIE L*, 0 (black) to 100 (white).
double lightness(Colour colour);

// "#1f77b4"
std::string to_hex(Colour colour);

}  // namespace headscope
