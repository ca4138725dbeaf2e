// A look at a SentencePiece model's bytes before the library trusts them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

// How a model cuts words: by merges, by likelihood, or another way (words, characters).
enum class TokenizerType : std::uint8_t { Bpe, Unigram, Other };

// The library follows the offsets of a model's normalisation table without looking where they lead, so a damaged file
// could make it read outside its memory. Error, naming `name`, for a file that is no protocol buffer or whose table
// points outside itself.
TokenizerType check_model_file(std::string_view bytes, const std::string& name);

}  // namespace headscope
