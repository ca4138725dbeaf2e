#include "experiment/power_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>

namespace headscope {
namespace {

// The 97.5 % quantile of Student's t: exact where few degrees of freedom are left, else its expansion around the normal
// one (Abramowitz and Stegun, 26.7.5).
double student_quantile(std::ptrdiff_t freedom) {
    constexpr double kExact[] = {12.7062, 4.3027, 3.1824, 2.7764};
    if (freedom <= std::ssize(kExact)) {
        return kExact[freedom - 1];
    }
    constexpr double z = 1.959964;
    const auto n = static_cast<double>(freedom);
    const double z3 = std::pow(z, 3);
    const double z5 = std::pow(z, 5);
    return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
}

}  // namespace

Exponent fit_exponent(const std::vector<PowerPoint>& points) {
    struct Group {
        double x = 0.0, y = 0.0, count = 0.0;
    };
    std::map<std::int64_t, Group> groups;
    for (const PowerPoint& point : points) {
        Group& group = groups[point.group];
        group.x += std::log(point.x);
        group.y += std::log(point.y);
        group.count += 1.0;
    }
    double xx = 0.0;
    double xy = 0.0;
    double yy = 0.0;
    for (const PowerPoint& point : points) {
        const Group& group = groups[point.group];
        const double x = std::log(point.x) - group.x / group.count;
        const double y = std::log(point.y) - group.y / group.count;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (xx == 0.0) {
        return {.value = std::numeric_limits<double>::quiet_NaN(), .error = kNone};
    }
    Exponent fitted{.value = xy / xx, .error = kNone};
    const auto freedom = std::ssize(points) - std::ssize(groups) - 1;
    if (freedom >= 1) {
        const auto degrees = static_cast<double>(freedom);
        const double residual = std::max(yy - fitted.value * xy, 0.0);
        fitted.error = student_quantile(freedom) * std::sqrt(residual / degrees / xx);
    }
    return fitted;
}

}  // namespace headscope
