// What else could have been written: the steps of a translation, and the likeliest tokens of one of them.
#pragma once

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct CandidatesOptions {
    double width = 48.0;  // in text sizes; the strip of steps wraps there
    Look look = {};
};

// Above, the translation token by token, each shaded by its probability (cells have item = step); below, the candidates
// of step `chosen` as bars (item = index among its candidates; what was written and is not among them comes last with
// item = their number). `chosen` < 0, or no steps: the strip alone.
Drawing draw_candidates(const Exploration& exploration, int chosen, const CandidatesOptions& options);

}  // namespace headscope
