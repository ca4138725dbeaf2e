// A SentencePiece model whose pieces get their ids from another file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

// The piece with `space` in place of each U+2581.
std::string with_marks_as(std::string_view space, std::string_view piece);

// Splits as `inner` does: a piece without an id is not split further. Joins the pieces of `vocabulary`, of which
// `inner` may lack some: U+2581 becomes a space, except at both ends of the text, and the unknown piece " \u2047 ".
class NumberedPieces final : public Segmenter {
public:
    NumberedPieces(std::shared_ptr<const Segmenter> inner, std::shared_ptr<const Vocabulary> vocabulary);

    TokenizerType type() const override { return inner_->type(); }
    std::vector<Segment> split(std::string_view text) const override { return inner_->split(text); }
    std::unique_ptr<Joiner> joiner() const override;
    std::string file() const override { return inner_->file(); }
    const Vocabulary* vocabulary() const override { return inner_->vocabulary(); }

private:
    std::shared_ptr<const Segmenter> inner_;
    std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace headscope
