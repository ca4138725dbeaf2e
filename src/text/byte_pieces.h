// Pieces that are bytes. GPT-2 writes bytes as characters: printable Latin-1 characters stand for themselves, the other
// 68 bytes are U+0100 and following. A space is U+0120 and a line feed U+010A.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// The character that stands for a byte, as UTF-8.
const std::string& character_of_byte(unsigned char byte);
// The bytes that a piece stands for; std::nullopt if a character stands for none.
std::optional<std::string> bytes_of_characters(std::string_view piece);

// Bytes as text: U+FFFD for each part that is not UTF-8, as in Unicode's section 3.9 (maximal subparts). `ends` are the
// ends of the pieces that the bytes come from. A character of several pieces belongs to the last.
JoinedText text_of_bytes(std::string_view bytes, const std::vector<std::size_t>& ends);

// SentencePiece's pieces of single bytes, such as <0xE2>.
std::string byte_piece(unsigned char byte);
std::optional<char> byte_of_piece(std::string_view piece);

// For display: the piece's text, and <0xE2> for a byte that is only a part of a character.
std::string readable_bytes(std::string_view piece);

}  // namespace headscope
