// Unigram models (Kudo, 2018) as Hugging Face's tokenizers use them: each word is split into its likeliest pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/normalizers.h"
#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

struct UnigramOptions {
    Normalizer normalizer = {};
    bool split_at_white_space = false;  // before spaces become marks, U+2581
    bool add_mark = true;               // before text that does not begin with one
    bool split_at_marks = true;
    bool byte_fallback = false;  // unknown text becomes pieces such as <0xE2>, if there are all
    // When joining.
    bool drop_first_marks = true;   // all in the first piece
    bool drop_first_space = false;  // of the text
    bool join_bytes = false;        // pieces such as <0xE2> are bytes
};

class Unigram final : public Segmenter {
public:
    // A score for each piece, by id; those without, and control pieces, never come from text.
    Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, UnigramOptions options);

    TokenizerType type() const override { return TokenizerType::Unigram; }
    std::vector<Segment> split(std::string_view text) const override;
    JoinedText join(const std::vector<std::string_view>& pieces) const override;
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

private:
    std::vector<AlignedWord> words_of(std::string_view text) const;
    const double* score_of(std::string_view piece) const;
    void split_word(const AlignedWord& word, std::vector<Segment>& segments) const;
    void append_unknown(const AlignedWord& word, std::size_t begin, std::size_t end,
                        std::vector<Segment>& segments) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::vector<double> scores_;
    UnigramOptions options_;
    double unknown_score_;
    std::size_t longest_ = 1;  // characters
};

}  // namespace headscope
