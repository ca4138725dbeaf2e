// The settings that a run was made with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/settings.h"

namespace headscope::conformance {

using RunSettings = std::vector<std::pair<std::string, std::string>>;  // by name

// Those that change what runs: ours, and of drivers how wide they are and where they are looked for.
RunSettings settings_of(const Settings& settings);

}  // namespace headscope::conformance
