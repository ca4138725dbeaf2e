// Anti-aliasing by exact area coverage, without sampling.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "paint/drawing.h"

namespace headscope {

using Contours = std::vector<std::vector<Point>>;

// Calls paint(x, y, share) for every pixel of width x height that the contours cover. Contours are closed; a hole has
// the opposite orientation.
class Coverage {
public:
    Coverage(int width, int height);

    template <class Paint>
    void fill(const Contours& contours, Paint&& paint) {
        const int top = std::max(0, static_cast<int>(std::floor(bound(contours, true))));
        const int bottom = std::min(height_, static_cast<int>(std::ceil(bound(contours, false))));
        for (int y = top; y < bottom; ++y) {
            const auto [first, last] = measure(contours, y);
            double sum = 0.0;
            for (int x = first; x < last; ++x) {
                const auto at = static_cast<std::size_t>(x);
                sum += area_[at];
                area_[at] = 0.0;
                const double share = std::min(std::abs(sum), 1.0);
                if (share > 1.0 / 1024.0) {
                    paint(x, y, share);
                }
            }
        }
    }

private:
    struct Range {
        int first = 0;
        int last = 0;
    };
    static double bound(const Contours& contours, bool top);
    // Fills area_ for row y. The running sum of area_ is the signed coverage.
    Range measure(const Contours& contours, int y);
    void edge(Point from, Point to, double sign);

    int width_;
    int height_;
    Range touched_;
    std::vector<double> area_;  // [width + 2], all 0 between rows
};

}  // namespace headscope
