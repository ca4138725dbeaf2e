// Draws one head, or other numbers of pairs of words, as a matrix: one row per query, one column per key.
#pragma once

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

enum class Scale : std::uint8_t {
    Linear,       // from 0 (paper) to `full`
    Logarithmic,  // from `full` / 1000 or less (paper) to `full`
    Diverging,    // for differences: from -full (blue) over 0 (paper) to full (orange)
};

struct HeatMapOptions {
    Scale scale = Scale::Linear;
    // The weight at the end of the scale. 0: the default, 1 for weights and the largest value for differences.
    double full = 0.0;
    double cell = 1.5;             // below 1.1 some labels are skipped
    const char* across = "key";    // what the columns are
    const char* down = "query";    // and the rows
    std::string description = {};  // default: of attention
    Look look = {};
};

// Error if the head does not exist. The content's note is at the bottom. Omits cells with the colour of the paper, to
// keep files of long sentences small. Masked keys behind a query are grey, unless an edit gave them weight.
Drawing draw_heat_map(const SelectedAttention& content, int head, const HeatMapOptions& options);

// The position of a value on a scale: 0 to 1; for Diverging, -1 to 1.
double place_on(Scale scale, double value, double full);
Colour colour_on(Scale scale, double place, const Ink& ink);

// The weights of one head as TSV: keys in the first row, queries in the first column, nine digits, which distinguish
// any two floats.
std::string to_tsv(const SelectedAttention& content, int head);

}  // namespace headscope
