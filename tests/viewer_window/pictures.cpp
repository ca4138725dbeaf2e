#include "pictures.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

#include "support/check.h"

namespace headscope::test {

namespace {

constexpr int kChannels = 4;
constexpr int kStatusLine = 44;      // pixels at the bottom
constexpr int kVisible = 48;         // of 255: edges of letters differ by less between drivers
constexpr int kTile = 64;            // pixels per side: about the size of a button or a word
constexpr double kDifferent = 0.06;  // share of a tile's pixels that may differ visibly

// The number of visibly different pixels of a tile.
int different_in(const Pixels& seen, const Pixels& wanted, int left, int top, int right, int bottom) {
    int different = 0;
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
            const auto at =
                (static_cast<std::size_t>(y) * static_cast<std::size_t>(seen.width) + static_cast<std::size_t>(x)) *
                kChannels;
            int most = 0;
            for (std::size_t channel = 0; channel < kChannels; ++channel) {
                most = std::max(most, std::abs(int{seen.rgba[at + channel]} - int{wanted.rgba[at + channel]}));
            }
            different += most > kVisible ? 1 : 0;
        }
    }
    return different;
}

}  // namespace

Pixels read_png(const std::string& file) {
    Pixels pixels;
    int channels = 0;
    stbi_uc* data = stbi_load(file.c_str(), &pixels.width, &pixels.height, &channels, kChannels);
    if (data == nullptr) {
        throw Error(file + " is not a PNG: " + stbi_failure_reason());
    }
    pixels.rgba.assign(
        data, data + static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * kChannels);
    stbi_image_free(data);
    return pixels;
}

std::string difference_of(const Pixels& seen, const Pixels& wanted) {
    if (seen.width != wanted.width || seen.height != wanted.height) {
        return fmt::format("it has {} x {} pixels, not {} x {}", seen.width, seen.height, wanted.width, wanted.height);
    }
    const int foot = std::max(seen.height - kStatusLine, 0);
    double worst = 0.0;
    std::string where;
    for (int top = 0; top < foot; top += kTile) {
        for (int left = 0; left < seen.width; left += kTile) {
            const int right = std::min(left + kTile, seen.width);
            const int bottom = std::min(top + kTile, foot);
            const double share = static_cast<double>(different_in(seen, wanted, left, top, right, bottom)) /
                                 static_cast<double>((right - left) * (bottom - top));
            if (share > worst) {
                worst = share;
                where = fmt::format("{} to {}, {} to {}", left, right, top, bottom);
            }
        }
    }
    return worst <= kDifferent ? "" : fmt::format("{:.0f} % of the pixels at {} differ visibly", 100.0 * worst, where);
}

}  // namespace headscope::test
