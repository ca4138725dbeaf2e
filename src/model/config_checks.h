// Which values of different configuration keys go together.
#pragma once

#include <string>

#include "model/config.h"

namespace headscope {

// Checks combinations of options; each value is already in range. Throws Error, naming `origin` and the key, with what
// is possible.
void check_combinations(const ModelConfig& config, const std::string& origin);

}  // namespace headscope
