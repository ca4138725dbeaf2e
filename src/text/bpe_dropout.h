// BPE-dropout (Provilkov, Emelianenko and Voita, 2020): the same words in other pieces every time, so that a model sees
// how pieces are made up. SentencePiece can do it too, but draws from a generator that cannot be seeded for each
// sentence, and a run could not be repeated.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "support/random.h"
#include "text/tokenizer.h"

namespace headscope {

class BpeDropout {
public:
    // Error when the tokenizer's model is none of byte-pair pieces. `dropout` is the share of possible merges that are
    // passed over at each step, in [0, 1): 0 gives the tokenizer's own pieces.
    BpeDropout(const Tokenizer& tokenizer, double dropout);

    // `ids` are a sentence's pieces as Tokenizer::encode gives them; so are the result's. Unknown characters and pieces
    // that no merges lead to stay as they are.
    std::vector<std::int32_t> sample(const std::vector<std::int32_t>& ids, Random& random) const;

private:
    struct Merge {
        std::int32_t merged = 0;
        float score = 0.0F;  // the higher, the earlier
    };
    static std::uint64_t key(std::int32_t left, std::int32_t right) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U | static_cast<std::uint32_t>(right);
    }
    const Merge* merge_of(std::int32_t left, std::int32_t right) const;  // nullptr: they make no piece
    void merge(std::vector<std::int32_t>& symbols, Random& random) const;

    std::uint64_t threshold_;                            // a draw below it passes a merge over
    std::vector<std::vector<std::int32_t>> characters_;  // of each piece, as ids; the piece itself where it has none
    std::vector<bool> begins_word_;
    std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace headscope
