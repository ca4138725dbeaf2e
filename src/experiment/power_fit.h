// The power with which something grows.
#pragma once

#include <cstdint>
#include <vector>

namespace headscope {

// y grows as x^value; the 95 % interval is value +- error.
struct Exponent {
    double value = 0.0;
    double error = 0.0;
};

// Least squares of the logarithms; each group has its own factor. NaN if no group has two different x; `error` is
// infinite without a degree of freedom left.
struct PowerPoint {
    double x = 0.0, y = 0.0;
    std::int64_t group = 0;
};
Exponent fit_exponent(const std::vector<PowerPoint>& points);

}  // namespace headscope
