// How many translations are exactly those of the reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headscope {

// Translations that equal one of their references byte by byte, but for white space (ASCII) at both ends of a line.
// references[r][s]. Error, naming both numbers, when there are not as many.
std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::vector<std::string>>& references);

}  // namespace headscope
