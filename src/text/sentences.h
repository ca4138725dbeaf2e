// Where sentences end, by Unicode's properties and simple rules that know no language.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope {

enum class SentenceBreaks : std::uint8_t {
    Usual,
    Any  // also at no-break spaces behind a terminal, and at line and paragraph separators behind anything
};

// The sentences of a line, each a part of it without the white space (Unicode's White_Space) at its ends; nothing but
// this white space is lost. A sentence ends with one or several marks of Unicode's Sentence_Terminal, or "…", and
// the quotes and brackets that close behind them:
// - marks of East Asian and Brahmic scripts (U+3002, U+0964, ...) end it wherever they stand;
// - those of other scripts (".", "!", "?", ...) before white space and anything but a small letter. A "." that follows
//   a single letter, a number of at most two digits, a word that holds another "." or a common abbreviation ("Dr.",
//   "bzw.") ends nothing: of the two mistakes, a sentence too long is the smaller.
std::vector<std::string_view> split_sentences(std::string_view line, SentenceBreaks breaks = SentenceBreaks::Usual);

}  // namespace headscope
