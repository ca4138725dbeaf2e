// Drawn shapes and their captions.
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "train/shapes_task.h"

using namespace headscope;

TEST_CASE("pictures of shapes differ and have one caption each") {
    const std::vector<ShapesPicture> pictures = make_shapes_task(200, 7);
    REQUIRE(pictures.size() == 200);
    const std::regex form(
        "a (red|green|blue|yellow) (circle|square|triangle) (left of|above) "
        "a (red|green|blue|yellow) (circle|square|triangle)");
    std::set<std::vector<std::uint8_t>> seen;
    for (const ShapesPicture& picture : pictures) {
        CAPTURE(picture.caption);
        CHECK(std::regex_match(picture.caption, form));
        CHECK(picture.pixels.size() == std::size_t{kShapesSide} * kShapesSide * 3);
        CHECK(seen.insert(picture.pixels).second);
    }
    CHECK(make_shapes_task(3, 7)[2].pixels == pictures[2].pixels);
    CHECK(make_shapes_task(1, 8)[0].pixels != pictures[0].pixels);
}
