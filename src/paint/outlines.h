// The outlines of primitives, for painters that only fill.
#pragma once

#include <functional>

#include "paint/coverage.h"
#include "paint/typesetter.h"

namespace headscope {

class Outlines {
public:
    using Fill = std::function<void(const Contours&)>;

    // `scale`: multiplies all coordinates.
    explicit Outlines(double scale) : scale_(scale) {}

    // Calls `fill` for what is filled at once: a shape, or a letter.
    void fill(const Primitive& primitive, const Fill& fill);
    static std::vector<Point> rectangle(double left, double top, double right, double bottom);

private:
    void fill_text(const Text& text, const Fill& fill);
    Contours contours_of(const Rect& rect) const;
    Contours contours_of(const Line& line) const;
    Contours scaled(std::vector<Point> points) const;

    double scale_;
    Typesetter typesetter_;
};

}  // namespace headscope
