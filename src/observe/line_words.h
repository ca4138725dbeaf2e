// The words of a line as given, and which of them each of its pieces belongs to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

// What spaces and tabs part, without words of white space alone. Readers disagree on other white space: Moses,
// fast_align and awk part lines at spaces and tabs, and a lone U+00A0 is a word to them; Python's str.split() parts
// them at all of it. Each of these words holds a word of either reader, so links to them stay in range for both, and
// the numbers are the same where spaces and tabs are the only white space.
std::vector<ByteSpan> line_words(std::string_view line);

// The same without the characters at their ends that the tokenizer drops or makes blanks of: where each counts for
// words_of_pieces().
std::vector<ByteSpan> kept_words(const Tokenizer& tokenizer, std::string_view line);

// For each piece the number of its word in `kept`: of the first one that its span touches. A piece without such a word
// (a blank alone, all but the last of the pieces of one character) belongs to the next one's, at the end of the line to
// the last one's. -1 for all where none has a word.
std::vector<std::int64_t> words_of_pieces(const std::vector<ByteSpan>& kept, const std::vector<ByteSpan>& pieces);

}  // namespace headscope
