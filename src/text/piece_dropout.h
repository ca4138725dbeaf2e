// Other pieces for the same text each time, so that a model learns what they have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "support/random.h"
#include "text/tokenizer.h"

namespace headscope {

class PieceDropout {
public:
    virtual ~PieceDropout() = default;
    // `ids` are a sentence's pieces from Tokenizer::encode(); the result stands for the same words.
    virtual std::vector<std::int32_t> sample(const std::vector<std::int32_t>& ids, Random& random) const = 0;
};

// Words that count as rare ones, and so are their endings.
class WordDropout final : public PieceDropout {
public:
    // Error if the tokenizer has no endings. `dropout` is the share of the words, in [0, 1).
    WordDropout(const Tokenizer& tokenizer, double dropout);
    std::vector<std::int32_t> sample(const std::vector<std::int32_t>& ids, Random& random) const override;

private:
    std::uint64_t threshold_;            // a random number below it drops a word
    std::vector<std::int32_t> endings_;  // of each piece; itself if it is no word
};

}  // namespace headscope
