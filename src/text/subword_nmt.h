// BPE of subword-nmt and fastBPE (Sennrich et al., 2016): the characters of each word are merged, and a piece that does
// not end a word ends with @@.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// Whether these are codes: lines of two pieces, or of two pieces and a count (fastBPE), perhaps after "#version: 0.2".
bool is_subword_nmt(std::string_view bytes);

// Words are what stands between white space; text should be split at punctuation (Moses) as in training.
class SubwordNmt final : public Segmenter {
public:
    // Codes of version 0.1, in which the end of a word is a character of its own, or 0.2. Error that names `name` and
    // the line.
    SubwordNmt(std::string_view codes, const std::string& name);

    TokenizerType type() const override { return TokenizerType::Other; }
    std::vector<Segment> split(std::string_view text) const override;
    std::unique_ptr<Joiner> joiner() const override;
    std::string file() const override { return codes_; }

private:
    std::vector<std::string> pieces_of(std::string_view word) const;

    std::string codes_;
    bool separate_end_ = false;  // version 0.1
    std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
};

}  // namespace headscope
