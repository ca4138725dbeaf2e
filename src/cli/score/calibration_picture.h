// The picture of evaluate --calibration.
#pragma once

#include <string>
#include <vector>

#include "eval/forced_statistics.h"

namespace headscope {

// Draws how well the probabilities of a model, or of an ensemble, fit. `models`: their directories.
void write_calibration(const ForcedStatistics& statistics, const std::vector<std::string>& models,
                       const std::string& path);

}  // namespace headscope
