// What the environment sets of a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headscope::conformance {

using Settings = std::vector<std::pair<std::string, std::string>>;  // by name

// Those of an environment ("NAME=value"..) that change what runs: ours, and of drivers how wide they are and where they
// are looked for.
Settings settings_of(const char* const* environment);

}  // namespace headscope::conformance
