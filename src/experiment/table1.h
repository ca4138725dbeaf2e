// The paper's Table 1, measured: how time, sequential operations and path length of each kind of layer grow with the
// number of positions n and columns d.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/layer_probe.h"
#include "experiment/study_report.h"

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

struct Table1Line {
    const LayerKind* kind = nullptr;
    std::vector<LayerCost> costs = {};
    std::vector<LayerPath> paths = {};
};

// Exponents are of n >= 256 and d >= 128, or of all sizes if there are fewer than three such lengths or two such
// widths. `device`: as in "cpu (AMD EPYC)".
StudyReport report_of(const std::vector<Table1Line>& lines, const std::string& device);

}  // namespace headscope
