// The paper's Table 1, measured: how time, sequential operations and path length of each kind of layer grow with the
// number of positions n and columns d.
#pragma once

#include <string>
#include <vector>

#include "experiment/layer_probe.h"
#include "experiment/power_fit.h"
#include "experiment/study_report.h"

namespace headscope {

struct Table1Line {
    const LayerKind* kind = nullptr;
    std::vector<LayerCost> costs = {};
    std::vector<LayerPath> paths = {};
};

// Exponents are of n >= 256 and d >= 128, or of all sizes if there are fewer than three such lengths or two such
// widths. `device`: as in "cpu (AMD EPYC)".
StudyReport report_of(const std::vector<Table1Line>& lines, const std::string& device);

}  // namespace headscope
