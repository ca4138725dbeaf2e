// When two sentences count as the same, and when a text counts as empty.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// A key that texts share which differ in nothing but normal form (it is NFKC), case, width, punctuation, white space,
// control and format characters: full case folding, and no punctuation, ASCII symbols, blanks, format or
// default-ignorable characters. Words are not parted, since many scripts write no spaces and people differ on the rest
// (e-mail, email). Without any word punctuation stays, parted by single spaces, so the key is empty for is_empty_text()
// alone. The key of a key is the key itself. Bytes that are not UTF-8 are kept.
std::string normalised_text(std::string_view text);

// Whether there is more than punctuation, so that the key consists of words.
bool has_words(std::string_view text);

// Whether there is nothing but blanks (white space, controls, and what SentencePiece's normalisation makes spaces of:
// U+FFFD and U+2581) and format or default-ignorable characters.
bool is_empty_text(std::string_view text);

}  // namespace headscope
