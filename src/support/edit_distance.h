// Edit distance, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// Levenshtein distance in bytes: insertions, deletions and substitutions.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The name closest to `word`; empty if none is close enough to be a misspelling.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace headscope
