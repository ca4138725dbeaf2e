// The versions of the program and of its window libraries.
#pragma once

#include <string>
#include <vector>

namespace headscope::viewer {

std::vector<std::string> about_lines(const std::string& window_gpu);

}  // namespace headscope::viewer
