// Segmenters that find added tokens in the text, and split what is between them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalising_segmenter.h"
#include "text/segmenter.h"
#include "text/token_finder.h"

namespace headscope {

// Finds them in the text as it is.
class AddedTokens final : public Segmenter {
public:
    // `file` is what makes this again; see Segmenter.
    AddedTokens(std::shared_ptr<const Segmenter> inner, std::vector<AddedToken> tokens, std::string file);

    TokenizerType type() const override { return inner_->type(); }
    std::vector<Segment> split(std::string_view text) const override;
    std::unique_ptr<Joiner> joiner() const override { return inner_->joiner(); }
    std::string readable(std::string_view piece) const override;
    std::string file() const override { return file_; }
    const Vocabulary* vocabulary() const override { return inner_->vocabulary(); }

private:
    std::shared_ptr<const Segmenter> inner_;
    TokenFinder finder_;
    std::string file_;
};

// Finds them, normalised as the text, in the normalised text.
class NormalisedTokens final : public Segmenter {
public:
    NormalisedTokens(std::shared_ptr<const NormalisingSegmenter> inner, std::vector<AddedToken> tokens);

    TokenizerType type() const override { return inner_->type(); }
    std::vector<Segment> split(std::string_view text) const override { return split_sections(text, true); }
    std::vector<Segment> split_behind(std::string_view text) const override { return split_sections(text, false); }
    std::unique_ptr<Joiner> joiner() const override { return inner_->joiner(); }
    std::string readable(std::string_view piece) const override { return inner_->readable(piece); }
    const Vocabulary* vocabulary() const override { return inner_->vocabulary(); }

private:
    std::vector<Segment> split_sections(std::string_view text, bool begins) const;

    std::shared_ptr<const NormalisingSegmenter> inner_;
    std::vector<AddedToken> tokens_;
    TokenFinder finder_;
};

}  // namespace headscope
