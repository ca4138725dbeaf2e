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
constexpr int kStatusLine = 44;       // pixels at the foot
constexpr int kVisible = 48;          // of 255: edges of letters differ by less between drivers
constexpr double kDifferent = 0.004;  // share of pixels that may differ visibly

}  // namespace

Pixels read_png(const std::string& file) {
    Pixels pixels;
    int channels = 0;
    stbi_uc* data = stbi_load(file.c_str(), &pixels.width, &pixels.height, &channels, kChannels);
    if (data == nullptr) {
        throw Error(file + " is no PNG: " + stbi_failure_reason());
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
    std::size_t different = 0;
    const auto looked_at =
        static_cast<std::size_t>(seen.width) * static_cast<std::size_t>(std::max(seen.height - kStatusLine, 0));
    for (std::size_t pixel = 0; pixel < looked_at; ++pixel) {
        int most = 0;
        for (std::size_t channel = 0; channel < kChannels; ++channel) {
            const std::size_t at = pixel * kChannels + channel;
            most = std::max(most, std::abs(int{seen.rgba[at]} - int{wanted.rgba[at]}));
        }
        different += most > kVisible ? 1 : 0;
    }
    const double share = static_cast<double>(different) / static_cast<double>(looked_at);
    return share <= kDifferent ? "" : fmt::format("{:.2f} % of its pixels differ visibly", 100.0 * share);
}

}  // namespace headscope::test
