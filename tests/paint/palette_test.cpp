// Colours of heads.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "paint/ink.h"
#include "paint/palette.h"
#include "support/check.h"

using namespace headscope;

namespace {

using Lab = std::array<double, 3>;

double linear(std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// CIELAB of linear red, green and blue under D65.
Lab lab_of(double r, double g, double b) {
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0; };
    const double x = f((0.4125 * r + 0.3576 * g + 0.1804 * b) / 0.9505);
    const double y = f(0.2127 * r + 0.7152 * g + 0.0722 * b);
    const double z = f((0.0193 * r + 0.1192 * g + 0.9503 * b) / 1.0888);
    return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

Lab lab_of(Colour c) {
    return lab_of(linear(c.red), linear(c.green), linear(c.blue));
}

// Simulates deuteranopia (Vienot, Brettel and Mollon, 1999).
Lab seen_by_deuteranope(Colour c) {
    const double yellow = 0.2920 * linear(c.red) + 0.7080 * linear(c.green);
    return lab_of(yellow, yellow, std::max(0.0, 0.0223 * (linear(c.green) - linear(c.red)) + linear(c.blue)));
}

double difference(const Lab& a, const Lab& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

}  // namespace

TEST_CASE("Heads 1 to 8 have the paper's colours", "[palette]") {
    const char* const paper[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728",
                                 "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"};
    for (int head = 1; head <= 8; ++head) {
        CHECK(to_hex(head_colour(Palette::Paper, head)) == paper[head - 1]);
    }
}

TEST_CASE("All 32 colours of a palette are distinct and visible on white", "[palette]") {
    for (const Palette palette : {Palette::Paper, Palette::OkabeIto}) {
        for (int a = 1; a <= kPaletteColours; ++a) {
            CHECK(lightness(head_colour(palette, a)) < 90.0);
            for (int b = 1; b < a; ++b) {
                INFO("heads " << a << " and " << b);
                CHECK(difference(lab_of(head_colour(palette, a)), lab_of(head_colour(palette, b))) > 20.0);
            }
        }
        CHECK(head_colour(palette, 33) == head_colour(palette, 1));
    }
    CHECK_THROWS_AS(head_colour(Palette::Paper, 0), CheckFailure);
}

TEST_CASE("Okabe-Ito neighbours differ for a deuteranope, where the paper's heads 3 and 4 do not", "[palette]") {
    const auto apart = [](Palette palette, int a, int b) {
        return difference(seen_by_deuteranope(head_colour(palette, a)), seen_by_deuteranope(head_colour(palette, b)));
    };
    CHECK(apart(Palette::Paper, 3, 4) < 15.0);
    for (int head = 1; head < 8; ++head) {
        CHECK(apart(Palette::OkabeIto, head, head + 1) > 30.0);
    }
}

TEST_CASE("Heads past the eighth spread over light and dark", "[palette]") {
    for (const Palette palette : {Palette::Paper, Palette::OkabeIto}) {
        int dark = 0;
        int light = 0;
        for (int head = 9; head <= kPaletteColours; ++head) {
            dark += lightness(head_colour(palette, head)) < 40.0 ? 1 : 0;
            light += lightness(head_colour(palette, head)) > 60.0 ? 1 : 0;
        }
        CHECK(dark >= 7);
        CHECK(light >= 7);
    }
}

TEST_CASE("Numbers on swatches are readable", "[palette]") {
    CHECK(text_colour_on(Colour{0xf0, 0xe4, 0x42}) == kBlack);
    CHECK(text_colour_on(Colour{0x1f, 0x77, 0xb4}) == kWhite);
    // Backgrounds where lightness alone would be wrong: a darker one that needs black text.
    CHECK(text_colour_on(Colour{0x7f, 0x7f, 0x7f}) == kBlack);
    for (const Palette palette : {Palette::Paper, Palette::OkabeIto}) {
        for (int head = 1; head <= kPaletteColours; ++head) {
            CHECK(contrast(text_colour_on(head_colour(palette, head)), head_colour(palette, head)) >= 4.5);
        }
    }
    CHECK(lightness(kWhite) == Approx(100.0).margin(0.1));
    CHECK(lightness(kBlack) == Approx(0.0).margin(0.1));
    CHECK(lightness(faded(kBlack, kLightInk)) > 80.0);
}
