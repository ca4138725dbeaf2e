#include "paint/png.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <fmt/format.h>
#include <zlib.h>

#include "paint/coverage.h"
#include "paint/typesetter.h"
#include "support/check.h"

namespace headscope {

namespace {

// Clockwise, or counter-clockwise for a hole.
std::vector<Point> rounded(double left, double top, double right, double bottom, double radius, bool backwards) {
    radius = std::clamp(radius, 0.0, std::min(right - left, bottom - top) / 2.0);
    std::vector<Point> points;
    if (radius == 0.0) {
        points = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
    } else {
        const std::array<Point, 4> centres{{{left + radius, top + radius},
                                            {right - radius, top + radius},
                                            {right - radius, bottom - radius},
                                            {left + radius, bottom - radius}}};
        constexpr int kSteps = 12;
        for (std::size_t corner = 0; corner < 4; ++corner) {
            for (int step = 0; step <= kSteps; ++step) {
                const double turn = static_cast<double>(corner) + static_cast<double>(step) / kSteps + 2.0;
                const double angle = turn * std::numbers::pi / 2.0;
                points.push_back(
                    {centres[corner].x + radius * std::cos(angle), centres[corner].y + radius * std::sin(angle)});
            }
        }
    }
    if (backwards) {
        std::reverse(points.begin(), points.end());
    }
    return points;
}

class Painter {
public:
    Painter(Bitmap& bitmap, double scale) : bitmap_(bitmap), scale_(scale), coverage_(bitmap.width, bitmap.height) {}

    void paint(const Primitive& primitive) {
        role_ = primitive.mark.role;
        colour_ = primitive.colour;
        alpha_ = std::clamp(primitive.alpha, 0.0, 1.0);
        std::visit([this](const auto& shape) { draw(shape); }, primitive.shape);
    }

private:
    void draw(const Rect& r) {
        const double s = scale_;
        const double more = r.stroke / 2.0;
        if (role_ == Role::Background) {
            fill({rounded(0.0, 0.0, bitmap_.width, bitmap_.height, 0.0, false)});
            return;
        }
        if (is_tile(r)) {
            fill({rounded(std::round(r.x * s), std::round(r.y * s), std::round((r.x + r.width) * s),
                          std::round((r.y + r.height) * s), 0.0, false)});
            return;
        }
        Contours contours{rounded((r.x - more) * s, (r.y - more) * s, (r.x + r.width + more) * s,
                                  (r.y + r.height + more) * s, r.radius > 0.0 ? (r.radius + more) * s : 0.0, false)};
        if (r.stroke > 0.0 && r.width > r.stroke && r.height > r.stroke) {
            contours.push_back(rounded((r.x + more) * s, (r.y + more) * s, (r.x + r.width - more) * s,
                                       (r.y + r.height - more) * s, std::max(0.0, r.radius - more) * s, true));
        }
        fill(contours);
    }

    // Adjacent cells are snapped to whole pixels, so that the paper does not show through the seams.
    bool is_tile(const Rect& r) const {
        return (role_ == Role::Cell || role_ == Role::Legend) && r.radius == 0.0 && r.stroke == 0.0 &&
               r.width * scale_ >= 1.0 && r.height * scale_ >= 1.0;
    }

    void draw(const Line& line) {
        const double length = std::hypot(line.x2 - line.x1, line.y2 - line.y1);
        if (length == 0.0) {
            return;
        }
        const double x = (line.y2 - line.y1) / length * line.width / 2.0;
        const double y = (line.x1 - line.x2) / length * line.width / 2.0;
        fill(scaled({{line.x1 + x, line.y1 + y},
                     {line.x2 + x, line.y2 + y},
                     {line.x2 - x, line.y2 - y},
                     {line.x1 - x, line.y1 - y}}));
    }

    void draw(const Polygon& polygon) { fill(scaled(polygon.corners)); }

    void draw(const Text& text) {
        const SetText set = typesetter_.set(text.content, text.bold);
        const double pen = text.anchor == Anchor::Start    ? 0.0
                           : text.anchor == Anchor::Middle ? -set.width / 2.0
                                                           : -set.width;
        for (const SetGlyph& glyph : set.glyphs) {
            Contours contours = glyph.face->glyph(glyph.index).contours;
            for (std::vector<Point>& contour : contours) {
                for (Point& point : contour) {
                    const double along = (point.x + (pen + glyph.at.x)) * text.size;
                    const double up = (point.y + glyph.at.y) * text.size;
                    point = text.upwards ? Point{(text.x - up) * scale_, (text.y - along) * scale_}
                                         : Point{(text.x + along) * scale_, (text.y - up) * scale_};
                }
            }
            fill(contours);
        }
    }

    Contours scaled(std::vector<Point> points) const {
        for (Point& point : points) {
            point = {point.x * scale_, point.y * scale_};
        }
        return {std::move(points)};
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
    Typesetter typesetter_;
    Role role_ = Role::Background;
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
    const std::string rows = filtered(bitmap);
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                  static_cast<uLong>(rows.size()), Z_DEFAULT_COMPRESSION) != Z_OK) {
        throw Error(fmt::format("out of memory for a PNG of {} x {} pixels", bitmap.width, bitmap.height));
    }
    packed.resize(size);
    // Width, height, 8 bits per channel, RGBA, the only compression and filter methods, not interlaced.
    const std::string header = big_endian(static_cast<std::uint32_t>(bitmap.width)) +
                               big_endian(static_cast<std::uint32_t>(bitmap.height)) +
                               std::string("\x08\x06\x00\x00\x00", 5);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", packed) + chunk("IEND", "");
}

}  // namespace headscope
