// Splits text into words as BERT does (Devlin et al., 2019).
#pragma once

#include <string_view>
#include <vector>

#include "text/aligned_text.h"

namespace headscope {

struct BertWordOptions {
    bool clean_text = true;  // drop control and format characters and U+FFFD
    bool split_ideographs = true;
    bool strip_accents = false;  // decompose letters and drop the marks
    bool lowercase = false;
};

// The text, valid UTF-8, as it is split: ideographs stand between spaces.
AlignedText bert_normalised(std::string_view text, const BertWordOptions& options = {});
// Splits such a text at white space. Punctuation marks are words of one character.
std::vector<AlignedWord> bert_words(const AlignedText& normalised);
inline std::vector<AlignedWord> bert_words(std::string_view text, const BertWordOptions& options = {}) {
    return bert_words(bert_normalised(text, options));
}

}  // namespace headscope
