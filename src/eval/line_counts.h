// Do translations and references belong together?
#pragma once

#include <string>
#include <vector>

namespace headscope {

// Error, naming both numbers, when one of the references has not as many lines as the translations.
void check_line_counts(const std::vector<std::string>& translations,
                       const std::vector<std::vector<std::string>>& references);

}  // namespace headscope
