#include "figures/reliability_diagram.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/figures/layout_checks.h"

using namespace headscope;
using test::check_layout;

namespace {

// `count` tokens with this probability of the likeliest piece, `right` of which are it.
void add(ForcedStatistics& statistics, int count, int right, double probability) {
    for (int i = 0; i < count; ++i) {
        statistics.add({std::log(probability), std::log(probability), i < right});
    }
}

std::vector<Rect> bars_of(const Drawing& drawing, int item) {
    std::vector<Rect> bars;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == Role::Bar && primitive.mark.item == item) {
            bars.push_back(std::get<Rect>(primitive.shape));
        }
    }
    return bars;
}

}  // namespace

TEST_CASE("a reliability diagram has the accuracy, the gap and the share of each bin", "[reliability]") {
    ForcedStatistics statistics;
    add(statistics, 30, 15, 0.9);  // bin 13: half are right
    add(statistics, 10, 5, 0.3);   // bin 4
    const Look look{.text_size = 1.0};
    const Drawing drawing = draw_reliability(statistics, "small", look);
    CHECK(drawing.title == "Calibration of small");
    CHECK_THAT(drawing.description, Catch::Contains("35.00 %"));  // (30 * 0.4 + 10 * 0.2) / 40
    CHECK(bars_of(drawing, 0).empty());
    const std::vector<Rect> sure = bars_of(drawing, 13);
    const std::vector<Rect> unsure = bars_of(drawing, 4);
    REQUIRE((sure.size() == 4 && unsure.size() == 4));
    const double side = 30.0;
    CHECK(sure[0].height == Approx(0.5 * side).margin(0.2));   // right
    CHECK(sure[1].height == Approx(0.4 * side).margin(1e-9));  // between 0.5 and 0.9
    CHECK(unsure[1].height == Approx(0.2 * side).margin(1e-9));
    CHECK(unsure[1].y == Approx(sure[0].y).margin(0.2));      // above the mean probability, down to it
    CHECK(sure[3].height == Approx(3.0 * unsure[3].height));  // shares of pieces
    check_layout(drawing);
}

TEST_CASE("a reliability diagram of nothing has axes and no bars", "[reliability]") {
    const Drawing drawing = draw_reliability(ForcedStatistics(), "", {});
    CHECK(drawing.title == "Calibration");
    check_layout(drawing);
}
