#include "paint/outlines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace headscope {

namespace {

// Clockwise, or counter-clockwise for a hole.
std::vector<Point> rounded(double left, double top, double right, double bottom, double radius, bool backwards) {
    radius = std::clamp(radius, 0.0, std::min(right - left, bottom - top) / 2.0);
    std::vector<Point> points;
    if (radius == 0.0) {
        points = Outlines::rectangle(left, top, right, bottom);
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

}  // namespace

void Outlines::fill(const Primitive& primitive, const Fill& fill) {
    if (const auto* text = std::get_if<Text>(&primitive.shape)) {
        fill_text(*text, fill);
    } else if (const auto* rect = std::get_if<Rect>(&primitive.shape)) {
        fill(contours_of(*rect));
    } else if (const auto* line = std::get_if<Line>(&primitive.shape)) {
        fill(contours_of(*line));
    } else {
        fill(scaled(std::get<Polygon>(primitive.shape).corners));
    }
}

std::vector<Point> Outlines::rectangle(double left, double top, double right, double bottom) {
    return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

Contours Outlines::contours_of(const Rect& r) const {
    const double s = scale_;
    const double more = r.stroke / 2.0;
    Contours contours{rounded((r.x - more) * s, (r.y - more) * s, (r.x + r.width + more) * s,
                              (r.y + r.height + more) * s, r.radius > 0.0 ? (r.radius + more) * s : 0.0, false)};
    if (r.stroke > 0.0 && r.width > r.stroke && r.height > r.stroke) {
        contours.push_back(rounded((r.x + more) * s, (r.y + more) * s, (r.x + r.width - more) * s,
                                   (r.y + r.height - more) * s, std::max(0.0, r.radius - more) * s, true));
    }
    return contours;
}

Contours Outlines::contours_of(const Line& line) const {
    const double length = std::hypot(line.x2 - line.x1, line.y2 - line.y1);
    if (length == 0.0) {
        return {};
    }
    const double x = (line.y2 - line.y1) / length * line.width / 2.0;
    const double y = (line.x1 - line.x2) / length * line.width / 2.0;
    return scaled({{line.x1 + x, line.y1 + y},
                   {line.x2 + x, line.y2 + y},
                   {line.x2 - x, line.y2 - y},
                   {line.x1 - x, line.y1 - y}});
}

void Outlines::fill_text(const Text& text, const Fill& fill) {
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

Contours Outlines::scaled(std::vector<Point> points) const {
    for (Point& point : points) {
        point = {point.x * scale_, point.y * scale_};
    }
    return {std::move(points)};
}

}  // namespace headscope
