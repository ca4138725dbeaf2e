// Contrast of colours.
#include <catch2/catch.hpp>

#include "paint/ink.h"

using namespace headscope;

TEST_CASE("Texts of both inks are readable on all their backgrounds", "[ink]") {
    for (const Ink& ink : {kLightInk, kDarkInk}) {
        for (const Colour ground : {ink.paper, ink.surface, ink.chosen}) {
            CHECK(contrast(ink.text, ground) >= 4.5);
            CHECK(contrast(ink.faint, ground) >= 4.5);
        }
        CHECK(contrast(ink.accent, ink.paper) >= 4.5);
        CHECK(contrast(ink.warning, ink.paper) >= 4.5);
        for (const Palette palette : {Palette::Paper, Palette::OkabeIto}) {
            for (int head = 1; head <= kPaletteColours; ++head) {
                CHECK(contrast(ink.off, faded(head_colour(palette, head, ink), ink)) >= 3.0);
            }
        }
    }
    CHECK(contrast(kBlack, kWhite) == Approx(21.0));
    CHECK(contrast({0x77, 0x77, 0x77}, kWhite) == Approx(4.48).margin(0.01));
}

TEST_CASE("The light ink is the paper's, to the colour", "[ink]") {
    CHECK(kLightInk.paper == kWhite);
    CHECK(kLightInk.text == kBlack);
    CHECK(kLightInk.chosen == Colour{0xd3, 0xd3, 0xd3});
    for (int head = 1; head <= kPaletteColours; ++head) {
        CHECK(head_colour(Palette::Paper, head, kLightInk) == head_colour(Palette::Paper, head));
        CHECK(ground_under_text(head_colour(Palette::Paper, head), kLightInk) == head_colour(Palette::Paper, head));
    }
}

TEST_CASE("On dark paper heads are visible and texts on slabs readable", "[ink]") {
    for (const Palette palette : {Palette::Paper, Palette::OkabeIto}) {
        for (int head = 1; head <= kPaletteColours; ++head) {
            const Colour colour = head_colour(palette, head, kDarkInk);
            CHECK(contrast(colour, kDarkInk.paper) >= 3.0);
            CHECK(contrast(ground_under_text(colour, kDarkInk), kDarkInk.text) >= 4.5);
        }
    }
}

TEST_CASE("The lightness of a scale is monotonic", "[ink]") {
    for (const Ink& ink : {kLightInk, kDarkInk}) {
        CHECK(scale_colour(0.0, ink) == ink.paper);
        CHECK(diverging_colour(0.0, ink) == ink.paper);
        for (int step = 1; step <= 20; ++step) {
            const double value = step / 20.0;
            const double before = value - 0.05;
            const double sign = ink.dark ? 1.0 : -1.0;
            CHECK(sign * (lightness(scale_colour(value, ink)) - lightness(scale_colour(before, ink))) > 1.0);
            for (const double side : {-1.0, 1.0}) {
                CHECK(sign * (lightness(diverging_colour(side * value, ink)) -
                              lightness(diverging_colour(side * before, ink))) >
                      1.0);
            }
        }
        CHECK(diverging_colour(-1.0, ink).blue > diverging_colour(-1.0, ink).red);
        CHECK(diverging_colour(1.0, ink).red > diverging_colour(1.0, ink).blue);
    }
}
