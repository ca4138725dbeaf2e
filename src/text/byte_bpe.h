// Byte-level BPE (Radford et al., 2019): the bytes of each word are merged, pair by pair.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_merges.h"
#include "text/normalising_segmenter.h"
#include "text/normalizers.h"
#include "text/segmenter.h"
#include "text/text_split.h"
#include "text/vocabulary.h"

namespace headscope {

// GPT-2's words with the space before them. They cover the whole text.
TextSplit gpt2_words();

struct ByteBpeOptions {
    std::vector<TextSplit> splits = {};             // one after the other
    bool add_prefix_space = false;                  // then, before each part that does not begin with a space
    std::vector<TextSplit> words = {gpt2_words()};  // then
    bool ignore_merges = false;                     // a word that is a piece is not merged
    bool has_unknown = false;                       // a byte without a piece is unknown; otherwise dropped
    bool fuse_unknown = false;                      // adjacent ones are one piece
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
    // A part of the text, which begins at this byte.
    void split_part(std::string_view part, std::size_t begin, std::vector<Segment>& segments) const;
    void split_word(std::string_view word, std::vector<Segment>& segments) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    BpeMerges merges_;
    ByteBpeOptions options_;
};

// Byte-level BPE of normalised text.
class NormalisedBytes final : public NormalisingSegmenter {
public:
    NormalisedBytes(std::shared_ptr<const ByteBpe> inner, Normalizer normalizer)
        : inner_(std::move(inner)), normalizer_(std::move(normalizer)) {}

    TokenizerType type() const override { return inner_->type(); }
    AlignedText normalised(std::string_view text) const override { return normalizer_(aligned(text)); }
    std::vector<Segment> split_normalised(AlignedText text, bool begins) const override;
    std::unique_ptr<Joiner> joiner() const override { return inner_->joiner(); }
    std::string readable(std::string_view piece) const override { return inner_->readable(piece); }
    const Vocabulary* vocabulary() const override { return inner_->vocabulary(); }

private:
    std::shared_ptr<const ByteBpe> inner_;
    Normalizer normalizer_;
};

}  // namespace headscope
