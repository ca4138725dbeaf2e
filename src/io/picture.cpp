#include "io/picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "io/mapped_file.h"
#include "support/check.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace headscope {

namespace {

struct FreePixels {
    void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
    throw Error(fmt::format("the picture '{}' {}", path, problem));
}

// What a file of another kind is.
const char* other_kind(std::string_view bytes) {
    if (bytes.starts_with("GIF8")) {
        return "a GIF";
    }
    if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) {
        return "a WebP";
    }
    if (bytes.starts_with("BM")) {
        return "a BMP";
    }
    if (bytes.starts_with("II*") || bytes.starts_with("MM")) {
        return "a TIFF";
    }
    return "of an unknown kind";
}

// Whether a PNG has this chunk before its pixels: an animated one acTL, one with a transparent colour tRNS.
bool has_chunk(std::string_view bytes, std::string_view wanted) {
    constexpr std::size_t kSignature = 8;
    constexpr std::size_t kAroundData = 12;  // length, name and checksum of a chunk
    for (std::size_t at = kSignature; at + kAroundData <= bytes.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            length = length << 8U | static_cast<unsigned char>(bytes[at + i]);
        }
        const std::string_view name = bytes.substr(at + 4, 4);
        if (name == wanted || name == "IDAT") {
            return name == wanted;
        }
        at += length + kAroundData;
    }
    return false;
}

// Of pixels with transparency in their last channel.
std::vector<std::uint8_t> on_white(std::span<const std::uint8_t> pixels, int channels) {
    constexpr unsigned kOpaque = 255;
    const auto colours = static_cast<std::size_t>(channels);
    std::vector<std::uint8_t> opaque;
    opaque.reserve(pixels.size() / (colours + 1) * colours);
    for (std::size_t at = 0; at < pixels.size(); at += colours + 1) {
        const unsigned alpha = pixels[at + colours];
        for (std::size_t i = 0; i < colours; ++i) {
            const unsigned sum = pixels[at + i] * alpha + kOpaque * (kOpaque - alpha);
            opaque.push_back(static_cast<std::uint8_t>((sum + kOpaque / 2) / kOpaque));
        }
    }
    return opaque;
}

// Pixels of one line of a picture that make a pixel of the result, with their shares in 22 bits.
struct Share {
    int first = 0;
    std::vector<std::int32_t> weights;
};
constexpr int kShareBits = 22;

std::vector<Share> shares_of(int from, int to) {
    const double scale = static_cast<double>(from) / to;
    const double reach = std::max(scale, 1.0);
    std::vector<Share> shares(static_cast<std::size_t>(to));
    for (int i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * scale;
        const int first = std::max(static_cast<int>(centre - reach + 0.5), 0);
        const int end = std::min(static_cast<int>(centre + reach + 0.5), from);
        std::vector<double> exact;
        double sum = 0.0;
        for (int x = first; x < end; ++x) {
            exact.push_back(std::max(1.0 - std::abs((x - centre + 0.5) / reach), 0.0));
            sum += exact.back();
        }
        Share& share = shares[static_cast<std::size_t>(i)];
        share.first = first;
        for (const double weight : exact) {
            share.weights.push_back(static_cast<std::int32_t>(weight / sum * (1 << kShareBits) + 0.5));
        }
    }
    return shares;
}

// Resizes a line of values that are `step` apart, here and in the result.
void resize_line(std::span<const std::uint8_t> from, const std::vector<Share>& shares, std::size_t step,
                 std::span<std::uint8_t> to) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
        std::int32_t sum = 1 << (kShareBits - 1);
        auto at = static_cast<std::size_t>(shares[i].first) * step;
        for (const std::int32_t weight : shares[i].weights) {
            sum += from[at] * weight;
            at += step;
        }
        to[i * step] = static_cast<std::uint8_t>(std::clamp(sum >> kShareBits, 0, 255));
    }
}

PixelPicture resized_width(const PixelPicture& picture, int width) {
    if (width == picture.width) {
        return picture;
    }
    PixelPicture result{width, picture.height, picture.channels, {}};
    const auto channels = static_cast<std::size_t>(picture.channels);
    const std::size_t before = static_cast<std::size_t>(picture.width) * channels;
    const std::size_t after = static_cast<std::size_t>(width) * channels;
    result.pixels.resize(after * static_cast<std::size_t>(picture.height));
    const std::vector<Share> shares = shares_of(picture.width, width);
    for (std::size_t row = 0; row < static_cast<std::size_t>(picture.height); ++row) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
            resize_line(std::span(picture.pixels).subspan(row * before + channel), shares, channels,
                        std::span(result.pixels).subspan(row * after + channel));
        }
    }
    return result;
}

PixelPicture resized_height(const PixelPicture& picture, int height) {
    if (height == picture.height) {
        return picture;
    }
    PixelPicture result{picture.width, height, picture.channels, {}};
    const std::size_t line = static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.channels);
    result.pixels.resize(line * static_cast<std::size_t>(height));
    const std::vector<Share> shares = shares_of(picture.height, height);
    for (std::size_t column = 0; column < line; ++column) {
        resize_line(std::span(picture.pixels).subspan(column), shares, line, std::span(result.pixels).subspan(column));
    }
    return result;
}

}  // namespace

PixelPicture read_picture(const std::string& path, int channels) {
    constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";
    constexpr std::string_view kJpeg = "\xff\xd8\xff";
    HEADSCOPE_CHECK(channels == 1 || channels == 3, "a picture is grey or has three colours");
    if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) {
        refuse(path, "does not exist or is no file: expected the name of a PNG or JPEG file");
    }
    const MappedFile file(path);
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    const bool png = bytes.starts_with(kPng);
    if (!png && !bytes.starts_with(kJpeg)) {
        refuse(path, bytes.empty() ? "is empty: expected a PNG or JPEG file"
                                   : fmt::format("is {}: expected a PNG or JPEG file", other_kind(bytes)));
    }
    if (png && has_chunk(bytes, "acTL")) {
        refuse(path, "is animated: save one of its frames as a file");
    }
    const auto* const data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), INT32_MAX));
    int width = 0;
    int height = 0;
    int stored = 0;
    if (stbi_info_from_memory(data, size, &width, &height, &stored) == 0) {
        refuse(path, fmt::format("is damaged: {}", stbi_failure_reason()));
    }
    if (static_cast<std::int64_t>(width) * height > kMostPicturePixels) {
        refuse(path, fmt::format("has {} x {} pixels, but at most {} million are read: make it smaller", width, height,
                                 kMostPicturePixels / 1'000'000));
    }
    // A PNG without an alpha channel may have one transparent colour.
    const bool transparent = stored == 2 || stored == 4 || (png && has_chunk(bytes, "tRNS"));
    const int wanted = channels + (transparent ? 1 : 0);
    const std::unique_ptr<stbi_uc, FreePixels> pixels(
        stbi_load_from_memory(data, size, &width, &height, &stored, wanted));
    if (pixels == nullptr) {
        refuse(path, fmt::format("is damaged: {}", stbi_failure_reason()));
    }
    const std::span all(pixels.get(), static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                          static_cast<std::size_t>(wanted));
    return {width, height, channels,
            transparent ? on_white(all, channels) : std::vector<std::uint8_t>(all.begin(), all.end())};
}

PixelPicture resized(const PixelPicture& picture, int width, int height) {
    return resized_height(resized_width(picture, width), height);
}

}  // namespace headscope
