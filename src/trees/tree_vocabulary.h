// Recognises models that write trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/tokenizer.h"
#include "trees/linearised.h"

namespace headscope {

// ")NP" of "(NP", and the other way round.
std::string other_bracket(std::string symbol);

// What stands for a word in the sequences of a model with these target symbols, by terminals_among(). Nothing if the
// model does not write trees: no X of the vocabulary has its (X and )X.
std::optional<Terminals> terminals_in(const Tokenizer& symbols);

// The paper's limit for parsing (6.3): a sequence has at most this many symbols more than the source has pieces.
inline constexpr std::int64_t kExtraSymbols = 300;

}  // namespace headscope
