// Draws the effect of ablating each head on a translation.
#pragma once

#include <string>

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct ImportanceOptions {
    // true: bars, the most important head first; false: a layers x heads grid per kind of attention.
    bool bars = false;
    int most_bars = 24;
    std::string title = {};  // default: of one translation or text
    std::string note = {};   // what the numbers are; default: of one translation or text
    Palette palette = Palette::Paper;
    Look look = {};
};

// Cells and bars have layer, head and item = index in `heads`. Orange: the output is less likely without the head;
// blue: more likely.
Drawing draw_importance(const Importance& importance, const ImportanceOptions& options);

}  // namespace headscope
