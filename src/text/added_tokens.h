// Tokens that are found in the text before it is split: "added tokens" of Hugging Face's tokenizers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

struct AddedToken {
    std::string content;
    bool special = true;                  // a control piece
    bool lstrip = false, rstrip = false;  // take the white space before or after
    bool normalized = false;              // found after the others
};

// Finds the longest token at each place from the left, and splits the text between tokens with `inner`.
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
    const AddedToken* token_at(std::string_view text) const;

    std::shared_ptr<const Segmenter> inner_;
    std::vector<AddedToken> tokens_;  // longest first
    std::array<bool, 256> first_bytes_{};
    std::string file_;
};

}  // namespace headscope
