// BPE-dropout (Provilkov, Emelianenko and Voita, 2020): splits the same words into different pieces each time, so that
// a model learns how pieces are composed. SentencePiece has it too, but its random generator cannot be seeded per
// sentence, so a run would not be reproducible.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "support/random.h"
#include "text/piece_dropout.h"

namespace headscope {

class BpeDropout final : public PieceDropout {
public:
    // Error if the tokenizer's model is not BPE. `dropout` is the share of possible merges that are skipped in each
    // step, in [0, 1): 0 gives the tokenizer's own pieces.
    BpeDropout(const Tokenizer& tokenizer, double dropout);

    // `ids` are a sentence's pieces from Tokenizer::encode; the result has the same text. Unknown characters and pieces
    // that merges cannot produce stay unchanged.
    std::vector<std::int32_t> sample(const std::vector<std::int32_t>& ids, Random& random) const override;

private:
    struct Merge {
        std::int32_t merged = 0;
        float score = 0.0F;  // higher scores merge first
    };
    static std::uint64_t key(std::int32_t left, std::int32_t right) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U | static_cast<std::uint32_t>(right);
    }
    const Merge* merge_of(std::int32_t left, std::int32_t right) const;  // nullptr if they cannot merge
    void merge(std::vector<std::int32_t>& symbols, Random& random) const;

    std::uint64_t threshold_;                            // a random number below it skips a merge
    std::vector<std::vector<std::int32_t>> characters_;  // of each piece, as ids; the piece itself if they have no ids
    std::vector<bool> begins_word_;
    std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace headscope
