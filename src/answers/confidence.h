// How sure a model is of what it wrote: of an output and of each of its words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "infer/translation.h"
#include "text/tokenizer.h"

namespace headscope {

// The confidence in output `rank` of a line, from 0 to 1: the geometric mean of the probabilities of the pieces that
// the model chose, given those before, its end among them; of all sentences together if the line was split. A prefix
// that was given counts as if it had been chosen, tokens that stand before every output do not. std::nullopt if the
// model chose nothing.
std::optional<double> confidence_of(const TextResult& line, std::size_t rank);

// Which outputs a user doubts, and whether their texts are marked or left out.
struct UnsureRule {
    static constexpr const char* kMark = "(unsure) ";  // before the text

    double least = 0.0;  // outputs with a lower confidence; 0: none
    bool leaves_out = false;

    bool holds(std::optional<double> confidence) const { return confidence && *confidence < least; }
};

// A word of an output, without the blanks around it, and the product of the probabilities of its pieces: the
// probability that the model writes all of it after the words before.
struct WordProbability {
    std::string word;
    double probability = 1.0;
};
nlohmann::ordered_json to_json(const WordProbability& word);
std::string words_column(const std::vector<WordProbability>& words);  // " ||| 0.9512 0.7304"

// The words of `ids`, which spaces and tabs separate, in order; log_probabilities[i] belongs to ids[i]. Ends belong to
// no word, and other pieces without text to the next one.
std::vector<WordProbability> word_probabilities(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                                                std::span<const double> log_probabilities);
// Those of output `rank` of a line.
std::vector<WordProbability> word_probabilities(const Tokenizer& tokenizer, const TextResult& line, std::size_t rank);

}  // namespace headscope
