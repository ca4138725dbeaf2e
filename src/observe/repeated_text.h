// A text of random words that stands there twice: the usual test of heads that follow what followed before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/model_directory.h"

namespace headscope {

constexpr int kRepeatedPieces = 50;

// Words of one piece each, drawn evenly from those of the vocabulary that read as that piece alone, and the same again
// ("the usual repeated-random-tokens test", Olsson et al. 2022, there of any tokens). kRepeatedPieces, or fewer if the
// model reads shorter texts. None for a model that does not complete text, or whose vocabulary has too few such words;
// the second function has an Error for it.
std::optional<std::string> find_repeated_text(const ModelDirectory& model, std::uint64_t seed = 1);
std::string repeated_text(const ModelDirectory& model, std::uint64_t seed = 1);

}  // namespace headscope
