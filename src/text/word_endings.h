// Rare words by how they end: a word without an id of its own has that of its longest ending that has one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace headscope {

// The pieces that stand for a word, the longest first: "…cycle" to "…e", then "…" for any word. "A…" begins those of a
// word with a capital, and digits are 0: "A…p00" is one of Bmp24. At most five letters.
std::vector<std::string> endings_of(std::string_view word);

// The first of endings_of() that has an id; empty if none has.
std::string known_ending(const Vocabulary& vocabulary, std::string_view word);

// The endings that occur at least `minimum` times in the words of `lines` that occur less than `rare` times, the most
// frequent ones first (of equals, the first in byte order), and those for any word.
std::vector<std::string> frequent_endings(const std::vector<std::string>& lines, std::int64_t rare,
                                          std::int64_t minimum);

}  // namespace headscope
