// One head as a matrix: a row for each query from above to below, a column for each key from left to right.
#pragma once

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

enum class Scale : std::uint8_t {
    Linear,       // 0 is the paper, `full` the far end
    Logarithmic,  // a thousandth of `full` and less is the paper
    Diverging,    // for differences: -full to full, blue over paper to orange
};

struct HeatMapOptions {
    Scale scale = Scale::Linear;
    // The weight at the far end of the scale. 0: 1 for weights, the largest there is for differences.
    double full = 0.0;
    double cell = 1.5;  // below 1.1 not every row and column is labelled
    Look look = {};
};

// Error when there is no such head. The content's note is at the foot. Cells whose colour is the paper's are left out,
// so that long sentences stay light.
Drawing draw_heat_map(const SelectedAttention& content, int head, const HeatMapOptions& options);

// Where a value stands on a scale: 0 to 1, of Diverging -1 to 1.
double place_on(Scale scale, double value, double full);
Colour colour_on(Scale scale, double place, const Ink& ink);

// The weights of one head as tab-separated text: the first row names the keys, the first column the queries. Nine
// digits, which tell any two floats apart.
std::string to_tsv(const SelectedAttention& content, int head);

}  // namespace headscope
