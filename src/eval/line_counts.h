// Checks that translations and references have the same number of lines.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// Error with both numbers if one of the references has a different number of lines.
void check_line_counts(const std::vector<std::string>& translations,
                       const std::vector<std::vector<std::string>>& references);

}  // namespace headscope
