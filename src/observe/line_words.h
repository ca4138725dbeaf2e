// The words of a line as given, and which of them each of its pieces belongs to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

// What spaces and tabs part, as Moses and fast_align read lines. A reader that parts them at any white space sees no
// fewer words, so links to these stay in its range.
std::vector<ByteSpan> line_words(std::string_view line);

// For each piece the number of its word in `words`: of the first one whose text in the piece's span the tokenizer does
// not drop. A piece without such a word (a blank alone, all but the last of the pieces of one character) belongs to the
// next one's, at the end of the line to the last one's. -1 for all where none has a word.
std::vector<std::int64_t> words_of_pieces(const Tokenizer& tokenizer, std::string_view line,
                                          const std::vector<ByteSpan>& words, const std::vector<ByteSpan>& pieces);

}  // namespace headscope
