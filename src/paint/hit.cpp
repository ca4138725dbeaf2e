#include "paint/hit.h"

#include <algorithm>
#include <cmath>

#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kAscent = 0.8;
constexpr double kDescent = 0.22;

bool holds(const Rect& rect, Point at) {
    const double more = rect.stroke / 2.0;
    return at.x >= rect.x - more && at.x < rect.x + rect.width + more && at.y >= rect.y - more &&
           at.y < rect.y + rect.height + more;
}

// For a convex polygon: the point lies on the same side of every edge.
bool holds(const Polygon& polygon, Point at) {
    bool left = false;
    bool right = false;
    for (std::size_t i = 0; i < polygon.corners.size(); ++i) {
        const Point& a = polygon.corners[i];
        const Point& b = polygon.corners[(i + 1) % polygon.corners.size()];
        const double side = (b.x - a.x) * (at.y - a.y) - (b.y - a.y) * (at.x - a.x);
        left = left || side < 0.0;
        right = right || side > 0.0;
    }
    return left != right;
}

bool holds(const Text& text, Point at) {
    return holds(box_of(text), at);
}

}  // namespace

double distance_to(const Line& line, Point at) {
    const double dx = line.x2 - line.x1;
    const double dy = line.y2 - line.y1;
    const double squared = dx * dx + dy * dy;
    const double along =
        squared > 0.0 ? std::clamp(((at.x - line.x1) * dx + (at.y - line.y1) * dy) / squared, 0.0, 1.0) : 0.0;
    const double distance = std::hypot(at.x - line.x1 - along * dx, at.y - line.y1 - along * dy);
    return std::max(0.0, distance - line.width / 2.0);
}

Rect box_of(const Text& text) {
    const double length = text_width(text.content) * text.size;
    const double before = text.anchor == Anchor::Start ? 0.0 : text.anchor == Anchor::Middle ? length / 2.0 : length;
    const double height = (kAscent + kDescent) * text.size;
    if (text.upwards) {
        return {text.x - kAscent * text.size, text.y + before - length, height, length};
    }
    return {text.x - before, text.y - kAscent * text.size, length, height};
}

std::optional<std::size_t> hit(const Drawing& drawing, Point at, double tolerance, RoleSet roles) {
    std::optional<std::size_t> nearest;
    double least = tolerance;
    for (std::size_t i = drawing.primitives.size(); i-- > 0;) {
        const Primitive& primitive = drawing.primitives[i];
        if (!roles.has(primitive.mark.role)) {
            continue;
        }
        if (const auto* line = std::get_if<Line>(&primitive.shape)) {
            const double distance = distance_to(*line, at);
            if (distance < least || (!nearest && distance <= least)) {
                nearest = i;
                least = distance;
            }
            continue;
        }
        const bool inside = std::visit(
            [&](const auto& shape) {
                if constexpr (std::is_same_v<std::decay_t<decltype(shape)>, Line>) {
                    return false;
                } else {
                    return holds(shape, at);
                }
            },
            primitive.shape);
        if (inside) {
            // A nearby line on top of this shape wins.
            return nearest ? nearest : i;
        }
    }
    return nearest;
}

}  // namespace headscope
