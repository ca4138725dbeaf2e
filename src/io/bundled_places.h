// Where the files are that come with the program: models and configurations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope {

// Where "models/en-de" may be, in the order of preference: share/headscope beside the executable's folder, bin or
// libexec/headscope (installed), then assets under the working directory or above the executable (a source tree).
std::vector<std::filesystem::path> bundled_places(const std::string& name);

}  // namespace headscope
