// Reads SentencePiece models (Kudo and Richardson, 2018) with BPE, unigram, word or character pieces. Paper 5.1.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer_parts.h"

namespace headscope {

// Error that names `name` if the bytes are not a valid model.
TokenizerParts open_sentencepiece(std::string_view bytes, const std::string& name);

}  // namespace headscope
