// Confidence intervals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/check.h"

namespace headscope {

struct Interval {
    double low = 0.0;
    double high = 0.0;
};

// Wilson's 95 % interval of a proportion (Wilson, 1927).
inline Interval wilson_interval(std::int64_t successes, std::int64_t trials) {
    HEADSCOPE_CHECK(trials > 0 && successes >= 0 && successes <= trials, "a proportion is of at least one trial");
    constexpr double kZ = 1.959963984540054;
    const auto n = static_cast<double>(trials);
    const double share = static_cast<double>(successes) / n;
    const double middle = (share + kZ * kZ / (2.0 * n)) / (1.0 + kZ * kZ / n);
    const double half = kZ / (1.0 + kZ * kZ / n) * std::sqrt(share * (1.0 - share) / n + kZ * kZ / (4.0 * n * n));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace headscope
