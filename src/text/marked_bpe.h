// Byte pair encoding of words that begin with U+2581, as NLLB's tokenizer.json has it: characters are merged.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_merges.h"
#include "text/marked_words.h"
#include "text/normalising_segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

struct MarkedBpeOptions {
    MarkedWordsOptions words = {};
    bool ignore_merges = false;  // a word that is a piece is not merged
    bool has_unknown = true;     // a character without a piece is unknown; otherwise dropped
    bool fuse_unknown = false;   // adjacent ones are one piece
};

class MarkedBpe final : public NormalisingSegmenter {
public:
    // `merges` as in BpeMerges.
    MarkedBpe(std::shared_ptr<const Vocabulary> vocabulary,
              const std::vector<std::pair<std::string, std::string>>& merges, MarkedBpeOptions options);

    TokenizerType type() const override { return TokenizerType::Bpe; }
    AlignedText normalised(std::string_view text) const override { return options_.words.normalizer(aligned(text)); }
    std::vector<Segment> split_normalised(AlignedText text, bool begins) const override;
    std::unique_ptr<Joiner> joiner() const override { return marked_joiner(options_.words); }
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    std::vector<BpeSymbol> symbols_of(const AlignedWord& word) const;
    void append_bytes(std::string_view character, std::size_t begin, std::vector<BpeSymbol>& symbols) const;
    void split_word(const AlignedWord& word, std::vector<Segment>& segments) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    BpeMerges merges_;
    MarkedBpeOptions options_;
};

}  // namespace headscope
