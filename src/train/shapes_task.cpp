#include "train/shapes_task.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "support/random.h"

namespace headscope {
namespace {

struct ShapeColour {
    const char* name;
    std::array<std::uint8_t, 3> rgb;
};
constexpr std::array kShapeColours = {ShapeColour{"red", {220, 40, 40}}, ShapeColour{"green", {40, 170, 60}},
                                      ShapeColour{"blue", {50, 80, 220}}, ShapeColour{"yellow", {240, 200, 40}}};

// Whether a shape of this half width covers the point, counted from its centre.
using CoversPoint = bool (*)(int x, int y, int half);
struct ShapeForm {
    const char* name;
    CoversPoint covers;
};
constexpr std::array kShapeForms = {
    ShapeForm{"circle", [](int x, int y, int half) { return x * x + y * y <= half * half; }},
    ShapeForm{"square", [](int x, int y, int half) { return std::max(std::abs(x), std::abs(y)) < half; }},
    ShapeForm{"triangle", [](int x, int y, int half) { return y < half && 2 * std::abs(x) <= y + half; }}};

constexpr int kLeastHalf = 4, kMostHalf = 6;
constexpr int kBackground = 245;

struct PaintedShape {
    std::size_t colour = 0, form = 0;
    int x = 0, y = 0, half = kLeastHalf;
    auto operator<=>(const PaintedShape&) const = default;
};

int random_between(Random& random, int least, int most) {
    return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

PaintedShape random_shape(Random& random) {
    PaintedShape shape{.colour = random.below(kShapeColours.size()), .form = random.below(kShapeForms.size())};
    shape.half = random_between(random, kLeastHalf, kMostHalf);
    shape.x = random_between(random, shape.half, kShapesSide - 1 - shape.half);
    shape.y = random_between(random, shape.half, kShapesSide - 1 - shape.half);
    return shape;
}

// The distances in which two shapes do not touch, and in which it is clear which way they are further apart.
bool is_clear(const PaintedShape& one, const PaintedShape& other) {
    constexpr int kApart = 8;
    const int across = std::abs(one.x - other.x);
    const int down = std::abs(one.y - other.y);
    return std::max(across, down) > one.half + other.half && std::abs(across - down) >= kApart;
}

void paint_shape(const PaintedShape& shape, std::vector<std::uint8_t>& pixels) {
    for (int y = -shape.half; y <= shape.half; ++y) {
        for (int x = -shape.half; x <= shape.half; ++x) {
            if (kShapeForms.at(shape.form).covers(x, y, shape.half)) {
                const auto at = static_cast<std::ptrdiff_t>(((shape.y + y) * kShapesSide + shape.x + x) * 3);
                std::ranges::copy(kShapeColours.at(shape.colour).rgb, pixels.begin() + at);
            }
        }
    }
}

std::string phrase_of(const PaintedShape& shape) {
    return fmt::format("a {} {}", kShapeColours.at(shape.colour).name, kShapeForms.at(shape.form).name);
}

}  // namespace

std::vector<ShapesPicture> make_shapes_task(std::int64_t pictures, std::uint64_t seed) {
    Random random(seed);
    std::set<std::pair<PaintedShape, PaintedShape>> seen;
    std::vector<ShapesPicture> made;
    while (std::ssize(made) < pictures) {
        PaintedShape first = random_shape(random);
        PaintedShape second = random_shape(random);
        const bool across = std::abs(first.x - second.x) > std::abs(first.y - second.y);
        if (across ? second.x < first.x : second.y < first.y) {
            std::swap(first, second);
        }
        if (!is_clear(first, second) || !seen.emplace(first, second).second) {
            continue;
        }
        ShapesPicture picture{
            .pixels = std::vector<std::uint8_t>(kShapesSide * kShapesSide * 3, kBackground),
            .caption = fmt::format("{} {} {}", phrase_of(first), across ? "left of" : "above", phrase_of(second))};
        paint_shape(first, picture.pixels);
        paint_shape(second, picture.pixels);
        made.push_back(std::move(picture));
    }
    return made;
}

}  // namespace headscope
