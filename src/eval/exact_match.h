// How many translations are exactly those of the reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headscope {

// Byte by byte, but for white space (ASCII) at both ends of a line. Error, naming both numbers, when there are not as
// many.
std::size_t count_exact_matches(const std::vector<std::string>& translations,
                                const std::vector<std::string>& references);

}  // namespace headscope
