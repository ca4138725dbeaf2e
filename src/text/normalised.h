// When two sentences count as the same, and when a text counts as empty.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// A key that texts share which differ in nothing but normal form (it is NFKC), case, width, punctuation, white space,
// control and format characters: full case folding; punctuation, ASCII symbols, separators and controls become one
// space between words; format and default-ignorable characters are dropped. Without any word punctuation stays, so the
// key is empty for is_empty_text() alone. The key of a key is the key itself. Bytes that are not UTF-8 are kept.
std::string normalised_text(std::string_view text);

// Whether there is more than punctuation, so that the key consists of words.
bool has_words(std::string_view text);

// Whether there is nothing but white space, controls, and format or default-ignorable characters.
bool is_empty_text(std::string_view text);

}  // namespace headscope
