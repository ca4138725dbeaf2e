// A task with a known answer for models that read pictures: two coloured shapes, and which is where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

inline constexpr int kShapesSide = 32;  // of a picture, in pixels

struct ShapesPicture {
    std::vector<std::uint8_t> pixels;  // [kShapesSide, kShapesSide, 3], red, green and blue
    std::string caption;               // "a red circle left of a blue square"
};

// Pictures that differ. A caption begins with the left one of two shapes, or with the upper one if they are further
// apart vertically, so that each picture has one caption.
std::vector<ShapesPicture> make_shapes_task(std::int64_t pictures, std::uint64_t seed);

}  // namespace headscope
