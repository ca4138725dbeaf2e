// Defines when two sentences are the same, and when a text is empty.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// A key shared by texts that differ only in normal form (the key is NFKC), case, width, punctuation, white space,
// control and format characters. Applies full case folding and removes punctuation, ASCII symbols, blanks, format and
// default-ignorable characters. Words are not separated, because many scripts write no spaces and people differ on the
// rest (e-mail, email). A text without words keeps its punctuation, separated by single spaces, so that the key is
// empty only for is_empty_text(). Idempotent. Invalid UTF-8 bytes are kept.
std::string normalised_text(std::string_view text);

// Whether the text has more than punctuation, so that the key consists of words.
bool has_words(std::string_view text);

// Whether the text has only blanks (white space, controls, and U+FFFD and U+2581, which SentencePiece turns into
// spaces) and format or default-ignorable characters.
bool is_empty_text(std::string_view text);

}  // namespace headscope
