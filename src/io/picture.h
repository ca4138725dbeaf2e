// Reads pictures from PNG and JPEG files, and resizes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// Pictures with more pixels are not read.
inline constexpr std::int64_t kMostPicturePixels = 100'000'000;

struct PixelPicture {
    int width = 0, height = 0;
    int channels = 3;                  // 1: grey; 3: red, green and blue
    std::vector<std::uint8_t> pixels;  // [height, width, channels]
};

// The picture in a file, with 1 or 3 channels whatever the file has. Transparent pixels lie on white; 16 bits of a
// channel become 8. Error for a file of another kind, a damaged, an animated and a too large one.
PixelPicture read_picture(const std::string& path, int channels);

// Bilinear with antialias: each pixel of the result is a weighted mean of those that it covers (the triangle filter of
// Pillow, whose rounding this has).
PixelPicture resized(const PixelPicture& picture, int width, int height);

}  // namespace headscope
