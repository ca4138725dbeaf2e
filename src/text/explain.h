// Shows step by step how a tokenizer splits words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

struct ExplainedWord {
    std::string word;  // as the tokenizer sees it: "\u2581hugs"
    std::vector<std::string> pieces;
    // BPE: the characters, then the pieces after each merge. Unigram: the likeliest splits, the chosen one first.
    // WordPiece: the longest matches.
    std::vector<std::string> steps;
};

// The words of a text. Error for a tokenizer of another type.
std::vector<ExplainedWord> explain(const Tokenizer& tokenizer, std::string_view text);

}  // namespace headscope
