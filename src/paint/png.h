// Rasterises a drawing with the embedded font, so that the pixels are the same on every machine. Only characters that
// it lacks are drawn with fonts of the system.
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

// `scale`: pixels per unit of the drawing. Error beyond kMostPixels, with the largest scale that fits.
Bitmap rasterise(const Drawing& drawing, double scale = 1.0);

std::string to_png(const Bitmap& bitmap);

}  // namespace headscope
