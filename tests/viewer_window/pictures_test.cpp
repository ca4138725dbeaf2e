// Tests of the picture comparison itself.
#include <catch2/catch.hpp>

#include "pictures.h"

using namespace headscope::test;

TEST_CASE("Pictures differ if their size or more than a few pixels differ", "[pictures]") {
    Pixels white{200, 100, std::vector<std::uint8_t>(200 * 100 * 4, 255)};
    CHECK(difference_of(white, white).empty());
    CHECK(difference_of(white, {100, 200, white.rgba}) == "it has 200 x 100 pixels, not 100 x 200");
    Pixels spoilt = white;
    const auto darken = [&](std::size_t first, std::size_t count, std::uint8_t to) {
        for (std::size_t pixel = first; pixel < first + count; ++pixel) {
            spoilt.rgba[pixel * 4] = to;
        }
    };
    for (std::size_t row = 0; row < 4; ++row) {
        darken(row * 200, 50, 0);  // 200 of the first 56 x 64 pixels: 5.6 %
    }
    CHECK(difference_of(spoilt, white).empty());
    darken(4 * 200, 50, 0);
    CHECK(difference_of(spoilt, white) == "7 % of the pixels at 0 to 64, 0 to 56 differ visibly");
    spoilt = white;
    for (std::size_t row = 10; row < 26; ++row) {
        darken(row * 200 + 100, 16, 0);  // a missing box
    }
    CHECK_FALSE(difference_of(spoilt, white).empty());
    spoilt = white;
    darken(0, 5000, 220);  // barely visible
    CHECK(difference_of(spoilt, white).empty());
    spoilt = white;
    darken(200 * 60, 4000, 0);  // the status line
    CHECK(difference_of(spoilt, white).empty());
}
