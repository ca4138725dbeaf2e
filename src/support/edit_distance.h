// For messages that guess what was meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace headscope {

// Levenshtein's distance: insertions, deletions and exchanges of bytes that lead from one text to the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace headscope
