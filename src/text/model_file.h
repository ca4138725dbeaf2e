// Validates the bytes of a SentencePiece model before the library reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

// How a model splits words: by merges, by likelihood, or in another way (words, characters).
enum class TokenizerType : std::uint8_t { Bpe, Unigram, Other };

// The library follows the offsets of the normalization table without bounds checks, so a damaged file could make it
// read out of bounds. Error, naming `name`, for a file that is not a protocol buffer or whose table points outside
// itself.
TokenizerType check_model_file(std::string_view bytes, const std::string& name);

}  // namespace headscope
