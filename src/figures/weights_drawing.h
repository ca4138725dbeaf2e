// The weights of a block of the model: a line of numbers and a histogram for each parameter.
#pragma once

#include <string>
#include <vector>

#include "explore/weight_statistics.h"
#include "paint/sketch.h"

namespace headscope {

// Of the parameters whose names begin with `prefix`, which the rows leave out. Marks have item = index among `weights`.
Drawing draw_weights(const std::string& prefix, const std::vector<WeightStatistics>& weights, const Look& look);

}  // namespace headscope
