// Splits a line into words and maps its pieces to them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

// Splits at spaces and tabs, and drops words that consist of white space only. Tools disagree on other white space:
// Moses, fast_align and awk split at spaces and tabs, so a lone U+00A0 is a word to them; Python's str.split() splits
// at all white space. Each word here contains a word of both, so links stay in range for both, and the indices are the
// same if spaces and tabs are the only white space.
std::vector<ByteSpan> line_words(std::string_view line);

// The same words, without the characters at either end that the tokenizer drops or turns into blanks: the `kept` of
// words_of_pieces().
std::vector<ByteSpan> kept_words(const Tokenizer& tokenizer, std::string_view line);

// For each piece, the index in `kept` of the first word that it overlaps. A piece that overlaps none (a blank, or one
// of several pieces of one character except the last) gets the word of the next piece; at the end of the line, that of
// the previous one. All -1 if no piece overlaps a word.
std::vector<std::int64_t> words_of_pieces(const std::vector<ByteSpan>& kept, const std::vector<ByteSpan>& pieces);

}  // namespace headscope
