// Validation text taken from the training text, where someone has no other.
#pragma once

#include <cstdint>
#include <string>

#include "train/unlearnable_lines.h"

namespace headscope {

struct TextParts {
    // Files of one sentence a line, by absolute names.
    std::string train_source, train_target, valid_source, valid_target;
    std::int64_t train = 0, valid = 0;  // pairs
    std::int64_t shared = 0;            // pairs left out: a side is one of the validation text's (HoldOut)
    std::int64_t empty = 0;             // and those with an empty side (is_empty_text)
    UnlearnableLines unlearnable = {};  // among the pairs to train on
    // Of both languages together, for the size of a vocabulary: different characters, and different words.
    std::int64_t characters = 0, words = 0;
};

// Reads two parallel files twice, never whole, and writes their parts to `folder`: a hundredth of the pairs, at most
// 1000, is validation text. The same for the same texts and seed. Error for fewer than 100 pairs, and
// for texts that leave no pair to train on or nothing to learn a vocabulary from.
TextParts part_texts(const std::string& source, const std::string& target, const std::string& folder,
                     std::uint64_t seed);

}  // namespace headscope
