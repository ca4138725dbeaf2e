// Measured values by row, with error bars: one row for each model, one panel for each measure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paint/sketch.h"

namespace headscope {

struct DotValue {
    std::optional<double> mean;       // absent: not measured
    double deviation = 0.0;           // half of the error bar; 0: none
    std::optional<double> reference;  // a published value in the panel's units
};

struct DotRow {
    std::string name;              // bold
    std::string detail;            // after it
    bool gap = false;              // above, where a group begins
    std::vector<DotValue> values;  // one for each panel
};

struct DotPanel {
    std::string title;
    std::optional<double> guide;  // a value to compare with, drawn as a vertical line
};

struct DotRowsOptions {
    std::string title;
    std::string note;       // below it
    std::string mean = {};  // names in the legend
    std::string reference = {};
    double panel_width = 22.0;  // in text sizes
    Look look = {};
};

Drawing draw_dot_rows(const std::vector<DotRow>& rows, const std::vector<DotPanel>& panels,
                      const DotRowsOptions& options);

}  // namespace headscope
