// Draws the weights of a block of the model: statistics and a histogram of each parameter.
#pragma once

#include <string>
#include <vector>

#include "explore/weight_statistics.h"
#include "paint/sketch.h"

namespace headscope {

// `prefix` is removed from the names of the rows. Marks have item = index in `weights`.
Drawing draw_weights(const std::string& prefix, const std::vector<WeightStatistics>& weights, const Look& look);

}  // namespace headscope
