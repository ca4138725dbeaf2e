// Draws the steps of a translation, and the most likely tokens at one of them.
#pragma once

#include "explore/exploration.h"
#include "paint/sketch.h"

namespace headscope {

struct CandidatesOptions {
    double width = 48.0;  // in text sizes; the strip of steps wraps there
    bool gaps = false;    // of a span model's text, instead of the steps
    Look look = {};
};

// Above, the translation token by token, shaded by probability (cells have item = step). Below, the candidates of step
// `chosen` as bars (item = candidate index). If the generated token is not a candidate, it comes last, with item = the
// number of candidates. If `chosen` < 0 or there are no steps, draws only the strip. With `gaps` the same of the gaps
// of a span model's text, each with what fills it.
Drawing draw_candidates(const Exploration& exploration, int chosen, const CandidatesOptions& options);

}  // namespace headscope
