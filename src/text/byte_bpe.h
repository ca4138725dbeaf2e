// Byte-level BPE (Radford et al., 2019): the bytes of each word are merged, pair by pair.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_merges.h"
#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

struct ByteBpeOptions {
    bool add_prefix_space = false;  // before text that does not begin with a space
    bool use_regex = true;          // split into words (gpt2_words) first
    bool ignore_merges = false;     // a word that is a piece is not merged
    bool has_unknown = false;       // a byte without a piece is unknown; otherwise dropped
    bool fuse_unknown = false;      // adjacent ones are one piece
};

// Pieces are written with character_of_byte(). Spans include the space before a word.
class ByteBpe final : public Segmenter {
public:
    // `merges` in the order in which they were learned. Error if a piece of a merge is not in the vocabulary.
    ByteBpe(std::shared_ptr<const Vocabulary> vocabulary,
            const std::vector<std::pair<std::string, std::string>>& merges, ByteBpeOptions options);

    TokenizerType type() const override { return TokenizerType::ByteBpe; }
    std::vector<Segment> split(std::string_view text) const override;
    std::unique_ptr<Joiner> joiner() const override;
    std::string readable(std::string_view piece) const override;
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    std::vector<BpeSymbol> symbols_of(std::string_view word) const;
    void split_word(std::string_view word, std::vector<Segment>& segments) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    BpeMerges merges_;
    ByteBpeOptions options_;
};

}  // namespace headscope
