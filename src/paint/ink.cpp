#include "paint/ink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace headscope {

namespace {

constexpr double kReadable = 4.5;  // WCAG AA for text
constexpr double kVisible = 3.0;   // WCAG AA for graphics

double channel_luminance(std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(Colour colour) {
    return 0.2126 * channel_luminance(colour.red) + 0.7152 * channel_luminance(colour.green) +
           0.0722 * channel_luminance(colour.blue);
}

// Interpolates between equally spaced colours.
Colour interpolated(std::span<const Colour> stops, double value) {
    const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    return mixed(stops[below], stops[below + 1], place - static_cast<double>(below));
}

}  // namespace

Colour mixed(Colour a, Colour b, double share) {
    const auto mix = [&](std::uint8_t from, std::uint8_t to) {
        return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
    };
    return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

double contrast(Colour a, Colour b) {
    const double one = luminance(a);
    const double other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

Colour head_colour(Palette palette, int head, const Ink& ink) {
    const Colour colour = head_colour(palette, head);
    if (!ink.dark) {
        return colour;
    }
    double share = 0.0;
    while (contrast(mixed(colour, kWhite, share), ink.paper) < kVisible) {
        share += 1.0 / 32.0;
    }
    return mixed(colour, kWhite, share);
}

Colour ground_under_text(Colour colour, const Ink& ink, double alpha) {
    if (!ink.dark) {
        return colour;
    }
    double share = 0.0;
    while (contrast(mixed(ink.paper, mixed(colour, kBlack, share), alpha), ink.text) < kReadable) {
        share += 1.0 / 32.0;
    }
    return mixed(colour, kBlack, share);
}

Colour faded(Colour colour, const Ink& ink) {
    const auto fade = [](std::uint8_t channel, std::uint8_t paper) {
        return static_cast<std::uint8_t>(paper - (paper - channel) / 5);
    };
    return {fade(colour.red, ink.paper.red), fade(colour.green, ink.paper.green), fade(colour.blue, ink.paper.blue)};
}

Colour scale_colour(double value, const Ink& ink) {
    static constexpr std::array<Colour, 5> kOnLight{
        kWhite, {0xbf, 0xd9, 0xee}, {0x62, 0xa4, 0xd4}, {0x1f, 0x62, 0xa6}, {0x0a, 0x1f, 0x4d}};
    static constexpr std::array<Colour, 5> kOnDark{
        kDarkInk.paper, {0x1f, 0x48, 0x72}, {0x2f, 0x86, 0xb4}, {0x74, 0xc8, 0xc4}, {0xf6, 0xf4, 0xcf}};
    return interpolated(ink.dark ? kOnDark : kOnLight, value);
}

Colour diverging_colour(double value, const Ink& ink) {
    static constexpr std::array<Colour, 3> kBlue{kWhite, {0x7f, 0xb2, 0xdd}, {0x0a, 0x4c, 0x92}};
    static constexpr std::array<Colour, 3> kOrange{kWhite, {0xf2, 0xa8, 0x6a}, {0xb4, 0x42, 0x00}};
    static constexpr std::array<Colour, 3> kBlueOnDark{kDarkInk.paper, {0x2d, 0x69, 0xa8}, {0x86, 0xc2, 0xf7}};
    static constexpr std::array<Colour, 3> kOrangeOnDark{kDarkInk.paper, {0xa8, 0x54, 0x16}, {0xff, 0xb6, 0x73}};
    const auto& stops = value < 0.0 ? (ink.dark ? kBlueOnDark : kBlue) : (ink.dark ? kOrangeOnDark : kOrange);
    return interpolated(stops, std::abs(value));
}

}  // namespace headscope
