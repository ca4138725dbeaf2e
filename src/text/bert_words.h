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

// Splits at white space. Punctuation and ideographs are words of one character. The text is valid UTF-8.
std::vector<AlignedWord> bert_words(std::string_view text, const BertWordOptions& options = {});

}  // namespace headscope
