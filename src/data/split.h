// Parallel text in training, validation and test parts that share no source sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

struct SentencePair {
    std::string source;
    std::string target;
    bool operator==(const SentencePair&) const = default;
};

// "source TAB target [TAB anything]" lines; empty sides are left out. Error names `origin` and the line that has no
// tab.
std::vector<SentencePair> parse_tsv(const std::vector<std::string>& lines, const std::string& origin);

// What two source sentences must differ in to count as different: letters in lower case (see fold_case), punctuation
// (ASCII and U+2000..U+206F) and white space each folded to one space between words.
std::string normalised_source(std::string_view text);

struct Split {
    std::vector<SentencePair> train, valid, test;
};

// Whole groups of equal normalised source sentences go to one part: valid and test keep the first pair of a group and
// drop its others, train keeps all. The same for the same seed. Error when there are too few groups.
Split split_pairs(const std::vector<SentencePair>& pairs, std::int64_t valid, std::int64_t test, std::uint64_t seed);

}  // namespace headscope
