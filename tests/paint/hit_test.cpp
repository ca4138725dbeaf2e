// Hit testing.
#include <catch2/catch.hpp>

#include "paint/hit.h"

using namespace headscope;

namespace {

void add(Drawing& drawing, Role role, Shape2d shape) {
    drawing.primitives.push_back({{role}, kBlack, 1.0, std::move(shape)});
}

Drawing crossing() {
    Drawing drawing;
    drawing.width = drawing.height = 100.0;
    add(drawing, Role::Background, Rect{0, 0, 100, 100});
    add(drawing, Role::Slab, Rect{10, 10, 20, 20});
    add(drawing, Role::Attention, Line{0, 50, 100, 50, 2});
    add(drawing, Role::Attention, Line{50, 0, 50, 100, 2});
    add(drawing, Role::Node, Polygon{{{80, 80}, {90, 90}, {80, 100}, {70, 90}}});
    add(drawing, Role::QueryLabel, Text{20, 30, 10, Anchor::Start, true, false, "making"});
    return drawing;
}

}  // namespace

TEST_CASE("A line is hit within the tolerance, and the nearest of several wins", "[hit]") {
    const Drawing drawing = crossing();
    CHECK(hit(drawing, {20, 52}, 3.0) == 2U);
    CHECK(hit(drawing, {20, 54}, 3.0) == 2U);  // its edge lies at 51
    CHECK_FALSE(hit(drawing, {20, 54.1}, 3.0));
    CHECK(hit(drawing, {50.5, 53}, 3.0) == 3U);  // on line 3, beside line 2
    CHECK(hit(drawing, {53, 50.5}, 3.0) == 2U);
    CHECK(hit(drawing, {50, 50}, 3.0) == 3U);     // on both: the topmost
    CHECK_FALSE(hit(drawing, {104.5, 50}, 3.0));  // beyond its end
}

TEST_CASE("Rectangles, polygons and rotated texts are hit inside", "[hit]") {
    const Drawing drawing = crossing();
    CHECK(hit(drawing, {11, 11}, 3.0) == 1U);
    CHECK_FALSE(hit(drawing, {9, 11}, 3.0));
    CHECK(hit(drawing, {80, 90}, 3.0) == 4U);
    CHECK_FALSE(hit(drawing, {72, 82}, 3.0));  // in its box, not in it
    CHECK(hit(drawing, {16, 20}, 3.0) == 5U);  // the label lies over the slab
    CHECK(hit(drawing, {16, 31}, 3.0) != 5U);
}

TEST_CASE("Hits can be limited to roles", "[hit]") {
    const Drawing drawing = crossing();
    CHECK(hit(drawing, {16, 20}, 3.0, {Role::Slab}) == 1U);
    CHECK(hit(drawing, {16, 20}, 3.0, {Role::Background, Role::Attention}) == 0U);
    CHECK_FALSE(hit(drawing, {16, 20}, 3.0, {Role::Cell}));
}

TEST_CASE("A line above a rectangle wins, one below does not", "[hit]") {
    Drawing drawing = crossing();
    add(drawing, Role::Cell, Rect{0, 40, 20, 20});
    CHECK(hit(drawing, {5, 50}, 3.0) == drawing.primitives.size() - 1);
    CHECK(hit(drawing, {25, 50}, 3.0) == 2U);
    add(drawing, Role::Edge, Line{0, 45, 20, 45, 1});
    CHECK(hit(drawing, {5, 46}, 3.0) == drawing.primitives.size() - 1);
}
