// What leaving out each head does to a translation.
#pragma once

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct ImportanceOptions {
    // false: a grid of layers by heads for each kind of attention; true: bars, the most important head first.
    bool bars = false;
    int most_bars = 24;
    Palette palette = Palette::Paper;
    Look look = {};
};

// Cells and bars have layer, head and item = index among `heads`. Orange: the translation becomes less likely without
// the head; blue: more likely.
Drawing draw_importance(const Importance& importance, const ImportanceOptions& options);

}  // namespace headscope
