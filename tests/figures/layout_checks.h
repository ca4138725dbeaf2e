// Invariants of every layout: nothing outside, no overlapping texts, lengths in proportion to the text size.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "paint/hit.h"
#include "paint/sketch.h"

namespace headscope::test {

inline Rect bounds_of(const Primitive& primitive) {
    if (const auto* rect = std::get_if<Rect>(&primitive.shape)) {
        const double more = rect->stroke / 2.0;
        return {rect->x - more, rect->y - more, rect->width + rect->stroke, rect->height + rect->stroke};
    }
    if (const auto* line = std::get_if<Line>(&primitive.shape)) {
        return {std::min(line->x1, line->x2), std::min(line->y1, line->y2), std::abs(line->x2 - line->x1),
                std::abs(line->y2 - line->y1)};
    }
    if (const auto* text = std::get_if<Text>(&primitive.shape)) {
        return box_of(*text);
    }
    const auto& corners = std::get<Polygon>(primitive.shape).corners;
    Rect box{corners[0].x, corners[0].y, 0.0, 0.0};
    for (const Point& corner : corners) {
        const double right = std::max(box.x + box.width, corner.x);
        const double bottom = std::max(box.y + box.height, corner.y);
        box.x = std::min(box.x, corner.x), box.y = std::min(box.y, corner.y);
        box.width = right - box.x, box.height = bottom - box.y;
    }
    return box;
}

inline std::string text_of(const Primitive& primitive) {
    const auto* text = std::get_if<Text>(&primitive.shape);
    return text != nullptr ? text->content : name_of(primitive.mark.role);
}

// Boxes include ascenders and descenders; lines of text may overlap by a tenth of the height.
inline bool overlap(const Rect& a, const Rect& b) {
    const auto common = [](double from, double size, double other, double other_size) {
        return std::min(from + size, other + other_size) - std::max(from, other);
    };
    const double slack = 0.12 * std::min({a.width, a.height, b.width, b.height});
    return common(a.x, a.width, b.x, b.width) > slack && common(a.y, a.height, b.y, b.height) > slack;
}

inline void check_layout(const Drawing& drawing) {
    REQUIRE(drawing.width > 0.0);
    REQUIRE(drawing.height > 0.0);
    CHECK_FALSE(drawing.title.empty());
    CHECK_FALSE(drawing.description.empty());
    std::vector<const Primitive*> texts;
    for (const Primitive& primitive : drawing.primitives) {
        const Rect box = bounds_of(primitive);
        const bool finite = std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width + box.height);
        const double more = 1e-6;
        if (!finite || box.x < -more || box.y < -more || box.x + box.width > drawing.width + more ||
            box.y + box.height > drawing.height + more || primitive.alpha < 0.0 || primitive.alpha > 1.0) {
            FAIL_CHECK(text_of(primitive)
                       << " at " << box.x << ", " << box.y << ", " << box.width << " x " << box.height
                       << " lies outside of " << drawing.width << " x " << drawing.height);
        }
        if (std::holds_alternative<Text>(primitive.shape)) {
            texts.push_back(&primitive);
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
            if (overlap(bounds_of(*texts[i]), bounds_of(*texts[j]))) {
                FAIL_CHECK("\"" << text_of(*texts[i]) << "\" and \"" << text_of(*texts[j]) << "\" overlap");
            }
        }
    }
}

// Draws with both inks and checks that only colours differ and that lengths follow the text size.
template <class Draw>
void check_looks(Draw draw) {
    const Drawing light = draw(Look{});
    check_layout(light);
    const Drawing dark = draw(Look{.ink = kDarkInk});
    const Drawing large = draw(Look{.text_size = 20.0, .tips = false});
    CHECK(large.width == Approx(2.0 * light.width));
    CHECK(large.height == Approx(2.0 * light.height));
    REQUIRE(dark.primitives.size() == light.primitives.size());
    REQUIRE(large.primitives.size() == light.primitives.size());
    CHECK(dark.primitives.front().colour == kDarkInk.paper);
    for (std::size_t i = 0; i < light.primitives.size(); ++i) {
        const Rect one = bounds_of(light.primitives[i]);
        const Rect other = bounds_of(dark.primitives[i]);
        const Rect twice = bounds_of(large.primitives[i]);
        const bool same = one.x == other.x && one.y == other.y && one.width == other.width;
        const bool scaled = std::abs(2.0 * one.x - twice.x) < 1e-6 && std::abs(2.0 * one.y - twice.y) < 1e-6;
        if (!same || !scaled || !large.primitives[i].mark.tip.empty()) {
            FAIL_CHECK(text_of(light.primitives[i]) << " differs by ink, size or tips");
        }
    }
}

template <class Shape>
std::vector<std::pair<Primitive, Shape>> all_of(const Drawing& drawing, Role role) {
    std::vector<std::pair<Primitive, Shape>> found;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* shape = std::get_if<Shape>(&primitive.shape); shape != nullptr && primitive.mark.role == role) {
            found.emplace_back(primitive, *shape);
        }
    }
    return found;
}

}  // namespace headscope::test
