#include "paint/palette.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "paint/ink.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr Colour colour_of(std::uint32_t rgb) {
    return Colour{static_cast<std::uint8_t>((rgb >> 16U) & 0xFFU), static_cast<std::uint8_t>((rgb >> 8U) & 0xFFU),
                  static_cast<std::uint8_t>(rgb & 0xFFU)};
}

using Colours = std::array<std::uint32_t, kPaletteColours>;

// Colours 9 to 32 of both were chosen greedily: each is the one from a grid over lightness 14 to 82 that is farthest
// from all before it (CIELAB, lightness weighted nearly twice). Any two colours of a palette are at least 20 apart.
constexpr Colours kPaper{
    0x1f77b4, 0xff7f0e, 0x2ca02c, 0xd62728, 0x9467bd, 0x8c564b, 0xe377c2, 0x7f7f7f,  // the paper's
    0x330069, 0x2ae2dc, 0x072a0d, 0xc5d706, 0xf7c0aa, 0x5d0703, 0x3ee968, 0x1c672c,  //
    0x2a3dc8, 0x323c62, 0xa9873b, 0xc3c9f8, 0xaa0e71, 0xe17778, 0x20a984, 0xb0cb77,  //
    0x6da2f0, 0xa521b7, 0x0a6461, 0xe060f0, 0x725504, 0x680744, 0xe0af36, 0xf214a2,
};
constexpr Colours kOkabeIto{
    // Ordered so that neighbours differ for a deuteranope too; yellow is last since it is faint on white.
    0x0072b2, 0xd55e00, 0x009e73, 0xe69f00, 0x56b4e9, 0xcc79a7, 0x000000, 0xf0e442,  //
    0x330069, 0x83232d, 0x164801, 0xeac6a0, 0xb167fb, 0x2bdd5d, 0x9e2185, 0x4be2ca,  //
    0x638e06, 0x91714f, 0x2a3dc8, 0x0a6461, 0xf9b5fe, 0x183559, 0xfc626b, 0xfe2cad,  //
    0x9ab562, 0x86546c, 0x3a1c00, 0x724602, 0xa0a0a0, 0xd9905b, 0x8cc801, 0xcc2b5a,
};

double linear(std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

}  // namespace

Colour head_colour(Palette palette, int head) {
    HEADSCOPE_CHECK(head >= 1, "heads count from 1, got " + std::to_string(head));
    const Colours& colours = palette == Palette::Paper ? kPaper : kOkabeIto;
    return colour_of(colours[static_cast<std::size_t>((head - 1) % kPaletteColours)]);
}

double lightness(Colour colour) {
    const double luminance = 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
    return luminance > 0.008856 ? 116.0 * std::cbrt(luminance) - 16.0 : 903.3 * luminance;
}

Colour text_colour_on(Colour background) {
    return contrast(kBlack, background) >= contrast(kWhite, background) ? kBlack : kWhite;
}

std::string to_hex(Colour colour) {
    return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

}  // namespace headscope
