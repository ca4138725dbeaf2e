// Measured values by row, with error bars.
#include <algorithm>
#include <catch2/catch.hpp>

#include "figures/dot_rows.h"

using namespace headscope;

namespace {

struct Found {
    std::vector<Rect> dots;
    std::vector<Line> bars, references;
};

Found find(const Drawing& drawing) {
    Found found;
    for (const Primitive& one : drawing.primitives) {
        if (one.mark.role == Role::Point) {
            if (const auto* rect = std::get_if<Rect>(&one.shape)) {
                found.dots.push_back(*rect);
            } else {
                found.bars.push_back(std::get<Line>(one.shape));
            }
        } else if (one.mark.role == Role::Value) {
            found.references.push_back(std::get<Line>(one.shape));
        }
    }
    return found;
}

double centre(const Rect& rect) {
    return rect.x + rect.width / 2.0;
}

}  // namespace

TEST_CASE("rows have dots, error bars and references in proportion to their values") {
    const std::vector<DotRow> rows{
        {"base", "", false, {{.mean = 10.0, .reference = 10.0}}},
        {"A1", "h 1", true, {{.mean = 12.0, .deviation = 1.0, .reference = 11.0}}},
        {"A2", "h 4", false, {{.mean = {}, .reference = 9.0}}},
    };
    const Found found = find(draw_dot_rows(rows, {{"PPL", 10.0}}, {.title = "Rows", .note = "", .look = {}}));
    REQUIRE(found.dots.size() == 2);
    REQUIRE(found.bars.size() == 3);
    REQUIRE(found.references.size() == 3);
    const double unit = (centre(found.dots[1]) - centre(found.dots[0])) / 2.0;
    CHECK(unit > 0.0);
    CHECK(found.references[0].x1 == Approx(centre(found.dots[0])));
    CHECK(found.references[1].x1 == Approx(centre(found.dots[0]) + unit));
    CHECK(found.references[2].x1 == Approx(centre(found.dots[0]) - unit));
    CHECK(found.bars[0].x1 == Approx(centre(found.dots[1]) - unit));
    CHECK(found.bars[0].x2 == Approx(centre(found.dots[1]) + unit));
    CHECK(found.dots[1].y > found.dots[0].y);
}

TEST_CASE("rows without values still have labels") {
    const Drawing drawing = draw_dot_rows({{"base", "the base model", false, {{}}}}, {{"PPL", {}}},
                                          {.title = "Rows", .note = "", .look = {}});
    CHECK(find(drawing).dots.empty());
    CHECK(std::any_of(drawing.primitives.begin(), drawing.primitives.end(), [](const Primitive& one) {
        const auto* text = std::get_if<Text>(&one.shape);
        return text != nullptr && text->content == "the base model";
    }));
}
