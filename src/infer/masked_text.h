// Texts of masked language models, in which marks stand for masked tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_directory.h"
#include "text/tokenizer.h"

namespace headscope {

inline constexpr const char* kMaskText = "[MASK]";      // stands for a masked token in a text
inline constexpr const char* kSeparatorText = "[SEP]";  // separates two texts, if the model's tokenizer has this piece

// The ids of text that follows other text: without a blank of its own, if it does not begin with one.
std::vector<std::int32_t> encode_continuation(const Tokenizer& tokenizer, std::string_view text);

// Appends a word, and a blank before it if it begins with one and the text does not end with one; another word
// continues the text.
void append_filling(std::string& text, std::string_view word);

struct MaskedText {
    std::vector<std::int32_t> ids;  // with the text's ends
    std::vector<ByteSpan> masks;    // the bytes of the text that each mask among the ids stands for, in order
};

// A text in which `mark` and the model's own mask, such as `<mask>`, are masked tokens. A tokenizer that finds its mask
// in texts splits the whole text, so that the mask takes the blanks that it says. For others, what follows a mark
// continues the text. Error for a text that is not UTF-8 or too long for the model, or a mark that the tokenizer would
// not take for a mask.
MaskedText encode_masked(const ModelDirectory& model, std::string_view text, std::string_view mark);

}  // namespace headscope
