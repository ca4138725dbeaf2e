// Trains a tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// The id of the first of TokenizerTraining::control_pieces.
inline constexpr std::int32_t kFirstControlPiece = 4;

// Ids are pad 0, bos 1, eos 2, unk 3, then those of `control_pieces`. SentencePiece's text is normalized by
// NFKC with folded white space (nmt_nfkc); that of the others is not normalized.
struct TokenizerTraining {
    // One sentence per line, plain or compressed (text/lines.h); both languages for a shared vocabulary.
    std::vector<std::string> files = {};
    std::vector<std::string> sentences = {};  // additional text in memory
    TokenizerType type = TokenizerType::Bpe;  // or Unigram, WordPiece, Words
    std::int32_t vocabulary_size = 8000;      // all pieces, including the special ones; of Words at most
    std::int64_t minimum = 1;                 // Words: how often a word must occur to get an id
    std::int64_t endings = 0;                 // and an ending of rarer words (text/word_endings.h); 0: they have none
    std::vector<std::string> control_pieces = {};  // additional ones, such as `<mask>`; text never gives them
    double character_coverage = 1.0;               // share of all characters that get pieces; the rest is unk
    std::int64_t sentence_limit = 0;               // train on a seeded sample of at most this many; 0: all
    std::uint64_t seed = 1;
};

// Why training skips a line, such as "contains NUL ..."; empty if it uses the line. SentencePiece's rules.
std::string why_unlearnable(std::string_view line);

// Returns the trained model's bytes, which depend only on text, options and library version. Error with advice if the
// files are unreadable, not UTF-8 or empty, or the vocabulary size does not fit the text. Lines longer than 4,192 bytes
// or with U+2585 or NUL are skipped.
std::string train_tokenizer(const TokenizerTraining& training);

// The same, written to `path` atomically.
void train_tokenizer(const TokenizerTraining& training, const std::string& path);

}  // namespace headscope
