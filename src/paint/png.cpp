#include "paint/png.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <zlib.h>

#include "paint/encoding.h"
#include "paint/outlines.h"
#include "support/check.h"

namespace headscope {

namespace {

class Painter {
public:
    Painter(Bitmap& bitmap, double scale)
        : bitmap_(bitmap), scale_(scale), coverage_(bitmap.width, bitmap.height), outlines_(scale) {}

    void paint(const Primitive& primitive) {
        colour_ = primitive.colour;
        alpha_ = std::clamp(primitive.alpha, 0.0, 1.0);
        const auto* rect = std::get_if<Rect>(&primitive.shape);
        if (rect != nullptr && primitive.mark.role == Role::Background) {
            fill({Outlines::rectangle(0.0, 0.0, bitmap_.width, bitmap_.height)});
        } else if (rect != nullptr && is_tile(*rect, primitive.mark.role)) {
            const double s = scale_;
            fill({Outlines::rectangle(std::round(rect->x * s), std::round(rect->y * s),
                                      std::round((rect->x + rect->width) * s),
                                      std::round((rect->y + rect->height) * s))});
        } else {
            outlines_.fill(primitive, [this](const Contours& contours) { fill(contours); });
        }
    }

private:
    // Adjacent cells are snapped to whole pixels, so that the paper does not show through the seams.
    bool is_tile(const Rect& r, Role role) const {
        return (role == Role::Cell || role == Role::Legend) && r.radius == 0.0 && r.stroke == 0.0 &&
               r.width * scale_ >= 1.0 && r.height * scale_ >= 1.0;
    }

    void fill(const Contours& contours) {
        coverage_.fill(contours, [this](int x, int y, double share) { blend(x, y, share * alpha_); });
    }

    // Source-over blending in sRGB values, as in browsers.
    void blend(int x, int y, double alpha) {
        std::uint8_t* pixel =
            bitmap_.rgba.data() +
            (static_cast<std::size_t>(y) * static_cast<std::size_t>(bitmap_.width) + static_cast<std::size_t>(x)) * 4;
        const double below = pixel[3] / 255.0 * (1.0 - alpha);
        const double sum = alpha + below;
        const std::array<std::uint8_t, 3> colour{colour_.red, colour_.green, colour_.blue};
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const double mixed = 0.5 + (colour[channel] * alpha + pixel[channel] * below) / sum;
            pixel[channel] = static_cast<std::uint8_t>(mixed);
        }
        const double opaque = 0.5 + sum * 255.0;
        pixel[3] = static_cast<std::uint8_t>(opaque);
    }

    Bitmap& bitmap_;
    double scale_;
    Coverage coverage_;
    Outlines outlines_;
    Colour colour_{};
    double alpha_ = 1.0;
};

std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        bytes += static_cast<char>((value >> shift) & 0xFFU);
    }
    return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
    const std::string checked = name + content;
    const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    return big_endian(static_cast<std::uint32_t>(content.size())) + checked +
           big_endian(static_cast<std::uint32_t>(sum));
}

// Filters each row with None, Sub or Up: whichever has the smallest sum of absolute values, which usually compresses
// best.
std::string filtered(const Bitmap& bitmap) {
    const std::size_t length = static_cast<std::size_t>(bitmap.width) * 4;
    std::array<std::string, 3> tries;
    std::string rows;
    rows.reserve((length + 1) * static_cast<std::size_t>(bitmap.height));
    for (std::size_t y = 0; y < static_cast<std::size_t>(bitmap.height); ++y) {
        const std::uint8_t* row = bitmap.rgba.data() + y * length;
        std::array<long, 3> sums{};
        for (std::size_t filter = 0; filter < 3; ++filter) {
            tries[filter].assign(1, static_cast<char>(filter));
            for (std::size_t i = 0; i < length; ++i) {
                const int left = i >= 4 ? row[i - 4] : 0;
                const int above = y > 0 ? *(row + i - length) : 0;
                const int value = row[i] - (filter == 1 ? left : filter == 2 ? above : 0);
                const auto byte = static_cast<std::int8_t>(value);
                tries[filter] += static_cast<char>(byte);
                sums[filter] += std::abs(static_cast<int>(byte));
            }
        }
        rows += tries[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())];
    }
    return rows;
}

}  // namespace

Bitmap rasterise(const Drawing& drawing, double scale) {
    HEADSCOPE_CHECK(scale > 0.0 && std::isfinite(scale), "the scale of a bitmap must be positive");
    const double width = std::max(1.0, std::ceil(drawing.width * scale - 1e-6));
    const double height = std::max(1.0, std::ceil(drawing.height * scale - 1e-6));
    if (width * height > static_cast<double>(kMostPixels)) {
        throw Error(fmt::format(
            "a bitmap of {:.0f} x {:.0f} pixels exceeds the limit of {} million pixels: use a scale of {:.2f} or less, "
            "or write an SVG file, which has no limit",
            width, height, kMostPixels / 1000000,
            std::floor(100.0 * scale * std::sqrt(static_cast<double>(kMostPixels) / (width * height))) / 100.0));
    }
    Bitmap bitmap{static_cast<int>(width), static_cast<int>(height), {}};
    bitmap.rgba.assign(static_cast<std::size_t>(bitmap.width) * static_cast<std::size_t>(bitmap.height) * 4, 0);
    Painter painter(bitmap, scale);
    for (const Primitive& primitive : drawing.primitives) {
        painter.paint(primitive);
    }
    return bitmap;
}

std::string to_png(const Bitmap& bitmap) {
    // Width, height, 8 bits per channel, RGBA, the only compression and filter methods, not interlaced.
    const std::string header = big_endian(static_cast<std::uint32_t>(bitmap.width)) +
                               big_endian(static_cast<std::uint32_t>(bitmap.height)) +
                               std::string("\x08\x06\x00\x00\x00", 5);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(filtered(bitmap))) + chunk("IEND", "");
}

}  // namespace headscope
