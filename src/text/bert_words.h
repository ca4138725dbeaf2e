// Splits text into words as BERT does (Devlin et al., 2019).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// A word's characters, each with its bytes of the text.
struct BertWord {
    std::string text;
    std::vector<std::size_t> begins;  // of each character in `text`, then the end of `text`
    std::vector<ByteSpan> spans;      // of each character in the whole text

    std::size_t size() const { return spans.size(); }
    // The characters from `first` to before `last`.
    std::string_view part(std::size_t first, std::size_t last) const {
        return std::string_view(text).substr(begins[first], begins[last] - begins[first]);
    }
};

struct BertWordOptions {
    bool clean_text = true;  // drop control and format characters and U+FFFD
    bool split_ideographs = true;
    bool strip_accents = false;  // decompose letters and drop the marks
    bool lowercase = false;
};

// Splits at white space. Punctuation and ideographs are words of one character. The text is valid UTF-8.
std::vector<BertWord> bert_words(std::string_view text, const BertWordOptions& options = {});

}  // namespace headscope
