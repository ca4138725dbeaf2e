// Recognises models that write trees.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "trees/linearised.h"

namespace headscope {

// ")NP" of "(NP", and the other way round.
std::string other_bracket(std::string symbol);

// What stands for a word in sequences of these symbols: levels if all are level_symbol(), or else by terminals_among().
// Nothing if they are no trees: no X has its (X and )X.
std::optional<Terminals> terminals_of(const std::set<std::string>& symbols);
std::optional<Terminals> terminals_of_sequences(const std::vector<std::string>& sequences);
// The same of a model with these target symbols; nothing if it does not write trees.
std::optional<Terminals> terminals_in(const Tokenizer& symbols);

// The paper's limit for parsing (6.3): a sequence has at most this many symbols more than the source has pieces.
inline constexpr std::int64_t kExtraSymbols = 300;

}  // namespace headscope
