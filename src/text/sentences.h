// Splits text into sentences by Unicode's properties and simple language-independent rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope {

enum class SentenceBreaks : std::uint8_t {
    Usual,
    Any  // also at no-break spaces after a terminal, and at line and paragraph separators
};

// Splits a line into sentences, trimmed of white space (Unicode's White_Space); no other text is lost. A sentence ends
// with one or more characters of Unicode's Sentence_Terminal, or "…", followed by any closing quotes and brackets:
// - characters of East Asian and Brahmic scripts (U+3002, U+0964, ...) anywhere;
// - those of other scripts (".", "!", "?", ...) before white space and not before a small letter. A "." does not end a
//   sentence after a single letter, a number of at most two digits, a word with another "." or a common abbreviation
//   ("Dr.", "bzw."): a sentence too long is the smaller mistake.
std::vector<std::string_view> split_sentences(std::string_view line, SentenceBreaks breaks = SentenceBreaks::Usual);

}  // namespace headscope
