// Unigram models (Kudo, 2018) as Hugging Face's tokenizers use them: each word is split into its likeliest pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/marked_words.h"
#include "text/normalising_segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

class Unigram final : public NormalisingSegmenter {
public:
    // A score for each piece, by id; those without, and control pieces, never come from text.
    Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, MarkedWordsOptions options);

    TokenizerType type() const override { return TokenizerType::Unigram; }
    AlignedText normalised(std::string_view text) const override { return options_.normalizer(aligned(text)); }
    std::vector<Segment> split_normalised(AlignedText text, bool begins) const override;
    std::unique_ptr<Joiner> joiner() const override { return marked_joiner(options_); }
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    const double* score_of(std::string_view piece) const;
    void split_word(const AlignedWord& word, std::vector<Segment>& segments) const;
    void append_unknown(const AlignedWord& word, std::size_t begin, std::size_t end,
                        std::vector<Segment>& segments) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::vector<double> scores_;
    MarkedWordsOptions options_;
    double unknown_score_;
    std::size_t longest_ = 1;  // characters
};

}  // namespace headscope
