#include "figures/vector_map.h"

#include <catch2/catch.hpp>

#include "tests/figures/layout_checks.h"

using namespace headscope;
using test::all_of;
using test::check_layout;
using test::check_looks;

namespace {

Point middle_of(const Rect& dot) {
    return {dot.x + dot.width / 2.0, dot.y + dot.height / 2.0};
}

}  // namespace

TEST_CASE("vectors keep their distances on a map", "[vector map]") {
    const PrincipalPlane plane{.places = {{-2.0, 0.0}, {1.0, 1.0}, {1.0, -1.0}}, .shares = {0.75, 0.25}};
    const Drawing drawing = draw_vector_map(plane, {"cat", "dog", "house"}, "Words", {.text_size = 1.0});
    const auto dots = all_of<Rect>(drawing, Role::Point);
    REQUIRE(dots.size() == 3);
    const Point a = middle_of(dots[0].second), b = middle_of(dots[1].second), c = middle_of(dots[2].second);
    CHECK(dots[1].first.mark.tip == "dog");
    CHECK(b.x == Approx(c.x));
    CHECK(a.x < b.x);
    CHECK(b.y < c.y);  // y grows downwards
    CHECK((b.x - a.x) / (c.y - b.y) == Approx(1.5));
    CHECK(all_of<Text>(drawing, Role::Label).size() == 3);
    CHECK(all_of<Text>(drawing, Role::Note).empty());
    CHECK_THAT(drawing.description, Catch::Contains("75 % and 25 %"));
    const auto pair = [&](const Look& look) {
        return draw_vector_map(plane, {"cat", "dog", "house"}, "Words", look, 2);
    };
    const auto two = all_of<Rect>(pair({}), Role::Point);
    CHECK(two[0].first.colour == two[1].first.colour);
    CHECK_FALSE(two[0].first.colour == two[2].first.colour);
    CHECK(all_of<Text>(pair({}), Role::Legend).size() == 2);
    check_looks(pair);
    check_looks([&](const Look& look) { return draw_vector_map(plane, {"cat", "dog", "house"}, "Words", look); });
}

TEST_CASE("labels without room are left out and counted", "[vector map]") {
    PrincipalPlane plane{.places = {}, .shares = {1.0, 0.0}};
    std::vector<std::string> labels;
    for (int i = 0; i < 60; ++i) {
        plane.places.push_back({i < 59 ? i * 0.001 : 10.0, 0.0});
        labels.push_back("a rather long sentence of which nobody needs the end " + std::to_string(i));
    }
    const Drawing drawing = draw_vector_map(plane, labels, "Lines");
    const std::size_t shown = all_of<Text>(drawing, Role::Label).size();
    CHECK((shown >= 1 && shown < 20));
    const auto notes = all_of<Text>(drawing, Role::Note);
    REQUIRE(notes.size() == 2);
    CHECK_THAT(notes[0].second.content,
               Catch::StartsWith("1 vector far outside, drawn as rings at the edge: \u201ca rather"));
    CHECK(notes[1].second.content == std::to_string(60 - shown) + " labels without room");
    CHECK(all_of<Rect>(drawing, Role::Point).size() == 60);
    check_layout(drawing);
}

TEST_CASE("a place far out does not press the others together", "[vector map]") {
    PrincipalPlane plane{.places = {{-90.0, 4.0}}, .shares = {0.95, 0.01}};
    std::vector<std::string> labels{"."};
    for (int i = 0; i < 6; ++i) {
        plane.places.push_back({15.0 + i % 3, i < 3 ? -1.0 : 1.0});
        labels.push_back("word" + std::to_string(i));
    }
    const Drawing drawing = draw_vector_map(plane, labels, "Words");
    const auto dots = all_of<Rect>(drawing, Role::Point);
    REQUIRE(dots.size() == 7);
    const Rect frame = all_of<Rect>(drawing, Role::Frame).front().second;
    CHECK(dots[0].second.stroke > 0.0);  // a ring
    CHECK(middle_of(dots[0].second).x - frame.x == Approx(dots[0].second.width));
    for (std::size_t i = 1; i < dots.size(); ++i) {
        CHECK(dots[i].second.stroke == 0.0);
    }
    CHECK(middle_of(dots[3].second).x - middle_of(dots[1].second).x > 0.8 * frame.width);
    CHECK(all_of<Text>(drawing, Role::Label).size() == 7);
    const auto notes = all_of<Text>(drawing, Role::Note);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].second.content == "1 vector far outside, drawn as rings at the edge: \u201c.\u201d");
    check_layout(drawing);
    check_looks([&](const Look& look) { return draw_vector_map(plane, labels, "Words", look, 4); });
}

TEST_CASE("points that touch share a label", "[vector map]") {
    const PrincipalPlane plane{.places = {{0.0, 0.0}, {0.001, 0.0}, {3.0, 1.0}}, .shares = {0.9, 0.1}};
    CHECK(all_of<Text>(draw_vector_map(plane, {"it", "it", "cat"}, "Words"), Role::Label).size() == 2);
    CHECK(all_of<Text>(draw_vector_map(plane, {"it", "is", "cat"}, "Words"), Role::Label).size() == 3);
}

TEST_CASE("a map of equal vectors, of one and of none has a frame", "[vector map]") {
    check_layout(draw_vector_map({.places = {{0.0, 0.0}, {0.0, 0.0}}}, {"cat", "cat"}, "Words"));
    check_layout(draw_vector_map({.places = {{0.0, 0.0}}}, {"cat"}, "Words"));
    check_layout(draw_vector_map({}, {}, "Words"));
}
