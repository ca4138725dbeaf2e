// For messages that guess what was meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// Levenshtein's distance: insertions, deletions and exchanges of bytes that lead from one text to the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

// Of the names the one that a slip of the finger makes `word` of; empty where none is so near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace headscope
