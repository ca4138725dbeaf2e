// Where programs look for the files that come with them.
#pragma once

#include <filesystem>
#include <vector>

namespace headscope {

// Folders with `models` and `configs`, which libraries take as their search path: share/headscope beside the
// executable's folder, bin or libexec/headscope (installed), then assets under the working directory or above the
// executable (a source tree).
std::vector<std::filesystem::path> usual_places();

}  // namespace headscope
