// Splits off validation text from the training text.
#pragma once

#include <cstdint>
#include <string>

#include "train/unlearnable_lines.h"

namespace headscope {

struct TextParts {
    // Absolute names of files with one sentence per line.
    std::string train_source, train_target, valid_source, valid_target;
    std::int64_t train = 0, valid = 0;  // pairs
    std::int64_t shared = 0;            // pairs left out: they share a side with the validation text (HoldOut)
    std::int64_t empty = 0;             // pairs left out: they have an empty side (is_empty_text)
    UnlearnableLines unlearnable = {};  // among the pairs to train on
    // Distinct characters and words of both languages, for the size of the vocabulary.
    std::int64_t characters = 0, words = 0;
};

// Reads two parallel files twice, as streams, and writes their parts to `folder`. One percent of the pairs, at most
// 1000, becomes validation text. Deterministic for the same texts and seed. Error for fewer than 100 pairs, and for
// texts that leave no pair to train on or nothing to learn a vocabulary from.
TextParts split_texts(const std::string& source, const std::string& target, const std::string& folder,
                      std::uint64_t seed);

}  // namespace headscope
