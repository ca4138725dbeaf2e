// A drawing as a bitmap, with the program's own font: the same pixels on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paint/drawing.h"

namespace headscope {

struct Bitmap {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

// `scale` pixels for each of the drawing's. Error beyond kMostPixels, naming the scale that would fit.
Bitmap rasterise(const Drawing& drawing, double scale = 1.0);

std::string to_png(const Bitmap& bitmap);

}  // namespace headscope
