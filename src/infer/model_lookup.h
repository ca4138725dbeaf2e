// Finds the model if the command line names none.
#pragma once

#include <string>

#include "support/settings.h"

namespace headscope {

// model_folder() of `wanted` if it is not empty; else of the setting HEADSCOPE_MODEL; else the first of these that
// exists: share/headscope/models/en-de beside the executable's folder, bin or libexec/headscope (installed), then
// assets/models/en-de under the working directory or above the executable (a source tree). Error lists the searched
// places.
std::string find_model(const std::string& wanted, const Settings& settings);

}  // namespace headscope
