// A text with its pieces and the bytes of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

struct TokenizedText {
    std::string text;
    std::vector<std::string> pieces;
    std::vector<std::int32_t> ids;
    std::vector<ByteSpan> spans;  // of `text`
};

TokenizedText tokenized(const Tokenizer& tokenizer, const std::string& text);
// The text of the pieces. Error for an id that the tokenizer does not have.
TokenizedText joined(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids);

}  // namespace headscope
