#include "drawing/png.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>

#include <fmt/format.h>
#include <zlib.h>

#include "drawing/coverage.h"
#include "drawing/glyphs.h"
#include "drawing/utf8.h"
#include "support/check.h"

// In place of stb's own compression, whose files are a quarter larger. Freed with free().
#define STBIW_ZLIB_COMPRESS headscope_deflate
static unsigned char* headscope_deflate(unsigned char* data, int length, int* out_length, int quality) {
    uLongf size = compressBound(static_cast<uLong>(length));
    auto* bytes = static_cast<unsigned char*>(std::malloc(size));
    if (bytes == nullptr || compress2(bytes, &size, data, static_cast<uLong>(length), quality) != Z_OK) {
        std::free(bytes);
        return nullptr;
    }
    *out_length = static_cast<int>(size);
    return bytes;
}
#define STBIW_ASSERT(condition) HEADSCOPE_CHECK(condition, "writing a PNG")
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace headscope {

namespace {

// Clockwise; backwards for a hole.
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

    // Cells touch: with edges between pixels the paper would shine through their seams. Whole pixels have none.
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
        double length = 0.0;
        for (std::size_t at = 0; at < text.content.size();) {
            length += glyphs_.of(next_character(text.content, at), text.bold).advance;
        }
        double pen = text.anchor == Anchor::Start ? 0.0 : text.anchor == Anchor::Middle ? -length / 2.0 : -length;
        for (std::size_t at = 0; at < text.content.size();) {
            const Glyph& glyph = glyphs_.of(next_character(text.content, at), text.bold);
            Contours contours = glyph.contours;
            for (std::vector<Point>& contour : contours) {
                for (Point& point : contour) {
                    const double along = (point.x + pen) * text.size;
                    const double up = point.y * text.size;
                    point = text.upwards ? Point{(text.x - up) * scale_, (text.y - along) * scale_}
                                         : Point{(text.x + along) * scale_, (text.y - up) * scale_};
                }
            }
            fill(contours);
            pen += glyph.advance;
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

    // Over what is there, in the colours' own numbers, as browsers do.
    void blend(int x, int y, double alpha) {
        std::uint8_t* pixel =
            bitmap_.rgba.data() +
            (static_cast<std::size_t>(y) * static_cast<std::size_t>(bitmap_.width) + static_cast<std::size_t>(x)) * 4;
        const double below = pixel[3] / 255.0 * (1.0 - alpha);
        const double sum = alpha + below;
        const std::array<std::uint8_t, 3> colour{colour_.red, colour_.green, colour_.blue};
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const double mixed = (colour[channel] * alpha + pixel[channel] * below) / sum;
            pixel[channel] = static_cast<std::uint8_t>(mixed + 0.5);
        }
        pixel[3] = static_cast<std::uint8_t>(sum * 255.0 + 0.5);
    }

    Bitmap& bitmap_;
    double scale_;
    Coverage coverage_;
    Glyphs glyphs_;
    Role role_ = Role::Background;
    Colour colour_{};
    double alpha_ = 1.0;
};

}  // namespace

Bitmap rasterise(const Drawing& drawing, double scale) {
    HEADSCOPE_CHECK(scale > 0.0 && std::isfinite(scale), "a bitmap's scale is positive");
    const double width = std::max(1.0, std::ceil(drawing.width * scale - 1e-6));
    const double height = std::max(1.0, std::ceil(drawing.height * scale - 1e-6));
    if (width * height > static_cast<double>(kMostPixels)) {
        throw Error(fmt::format(
            "a bitmap of {:.0f} x {:.0f} pixels is larger than the {} million that can be written: a scale of {:.2f} "
            "fits, or write an SVG file, which has no limit",
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
    int length = 0;
    const std::unique_ptr<unsigned char, decltype(&std::free)> bytes(
        stbi_write_png_to_mem(bitmap.rgba.data(), bitmap.width * 4, bitmap.width, bitmap.height, 4, &length),
        &std::free);
    if (!bytes) {
        throw Error(fmt::format("there is no memory for a PNG of {} x {} pixels", bitmap.width, bitmap.height));
    }
    return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(length)};
}

}  // namespace headscope
