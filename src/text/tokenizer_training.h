// Learning the pieces of a vocabulary from text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/model_file.h"

namespace headscope {

// Ids are pad 0, bos 1, eos 2, unk 3; text is normalised by NFKC with whitespace folded (SentencePiece's nmt_nfkc).
struct TokenizerTraining {
    // One sentence a line, plain or packed (text/lines.h); both languages for a shared vocabulary.
    std::vector<std::string> files = {};
    std::vector<std::string> sentences = {};  // and text at hand
    TokenizerType type = TokenizerType::Bpe;
    std::int32_t vocabulary_size = 8000;  // all pieces, the four special ones among them
    double character_coverage = 1.0;      // the share of all characters that gets pieces; the rest is unk
    std::int64_t sentence_limit = 0;      // learn from a seeded sample of at most so many; 0: from all
    std::uint64_t seed = 1;
};

// Why SentencePiece's trainer leaves a line out, as "holds NUL, ..."; "" for one that it learns from.
std::string why_unlearnable(std::string_view line);

// The trained model's bytes: the same for the same text, options and library. Error in words to act on when the files
// cannot be read, are not UTF-8 or empty, or the vocabulary is too large or too small for them. Lines past 4,192 bytes
// are left out of the learning, as are those that hold U+2585 or NUL.
std::string train_tokenizer(const TokenizerTraining& training);

// The same, written to `path` whole or not at all.
void train_tokenizer(const TokenizerTraining& training, const std::string& path);

}  // namespace headscope
