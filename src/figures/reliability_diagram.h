// Reliability diagram: how often a model's likeliest piece is right, by the probability that the model gives it.
#pragma once

#include <string>

#include "eval/forced_statistics.h"
#include "paint/sketch.h"

namespace headscope {

// For each bin of probabilities a bar up to the share of likeliest pieces that are right, the gap to their mean
// probability, and below it the share of all pieces. On the diagonal both would agree (Guo et al., 2017). A bar has
// item = its bin, from 0. `name`: of the model, for the title.
Drawing draw_reliability(const ForcedStatistics& statistics, const std::string& name, const Look& look);

}  // namespace headscope
