#include "paint/coverage.h"

namespace headscope {

Coverage::Coverage(int width, int height)
    : width_(width), height_(height), area_(static_cast<std::size_t>(width) + 2, 0.0) {}

double Coverage::bound(const Contours& contours, bool top) {
    double found = top ? 1e9 : -1e9;
    for (const std::vector<Point>& contour : contours) {
        for (const Point& point : contour) {
            found = top ? std::min(found, point.y) : std::max(found, point.y);
        }
    }
    // Keeps the conversion to int defined.
    return std::clamp(found, -1e6, 1e6);
}

Coverage::Range Coverage::measure(const Contours& contours, int y) {
    touched_ = {width_, 0};
    for (const std::vector<Point>& contour : contours) {
        for (std::size_t i = 0; i < contour.size(); ++i) {
            Point a = contour[i];
            Point b = contour[(i + 1) % contour.size()];
            const double sign = a.y < b.y ? 1.0 : -1.0;
            if (a.y > b.y) {
                std::swap(a, b);
            }
            const double from = std::max(a.y, static_cast<double>(y));
            const double to = std::min(b.y, static_cast<double>(y) + 1.0);
            if (from >= to) {
                continue;
            }
            const double slope = (b.x - a.x) / (b.y - a.y);
            const double start = a.x + (from - a.y) * slope;
            const double end = a.x + (to - a.y) * slope;
            edge({std::min(start, end), 0.0}, {std::max(start, end), to - from}, sign);
        }
    }
    return {touched_.first, std::min(touched_.last, width_)};
}

// A segment of an edge within one row, from left to right. It covers everything to its right by its height, and the
// pixels it crosses by the trapezoid to its right. Parts left of the bitmap count fully for the first pixel; parts
// right of it are ignored.
void Coverage::edge(Point from, Point to, double sign) {
    const double height = to.y;
    const double width = to.x - from.x;
    const auto part = [&](double left, double right) { return width > 0.0 ? height * (right - left) / width : 0.0; };
    const double limit = static_cast<double>(width_);
    if (from.x >= limit) {
        touched_.last = width_;  // the row may be covered up to the edge of the bitmap
        return;
    }
    if (from.x < 0.0) {
        const double outside = to.x <= 0.0 ? height : part(from.x, 0.0);
        area_[0] += sign * outside;
        touched_.first = 0;
        if (to.x <= 0.0) {
            touched_.last = std::max(touched_.last, 1);
            return;
        }
    }
    const double first = std::max(from.x, 0.0);
    const double last = std::min(to.x, limit);
    const int first_pixel = std::min(static_cast<int>(first), width_ - 1);
    touched_.first = std::min(touched_.first, first_pixel);
    for (int pixel = first_pixel; pixel == first_pixel || (pixel < width_ && pixel < last); ++pixel) {
        const double left = std::max(first, static_cast<double>(pixel));
        const double right = std::min(last, pixel + 1.0);
        const double here = width > 0.0 ? part(left, right) : height;
        const double covered = pixel + 1.0 - (left + right) / 2.0;  // of the pixel's width, on average
        const auto at = static_cast<std::size_t>(pixel);
        area_[at] += sign * here * covered;
        area_[at + 1] += sign * here * (1.0 - covered);
        touched_.last = std::max(touched_.last, pixel + 2);
    }
}

}  // namespace headscope
