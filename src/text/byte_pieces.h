// Pieces that are bytes. GPT-2 writes bytes as characters: printable Latin-1 characters stand for themselves, the other
// 68 bytes are U+0100 and following. A space is U+0120 and a line feed U+010A.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/segmenter.h"

namespace headscope {

// The character that stands for a byte, as UTF-8.
const std::string& character_of_byte(unsigned char byte);
// The bytes that a piece stands for; std::nullopt if a character stands for none.
std::optional<std::string> bytes_of_characters(std::string_view piece);

// Whether the bytes are the beginning of a character, and more must follow.
bool begins_character(std::string_view bytes);

// Joins pieces of bytes: U+FFFD for each part that is not UTF-8, as in Unicode's section 3.9 (maximal subparts). A
// character of several pieces belongs to the last.
class ByteJoiner final : public Joiner {
public:
    // A piece as GPT-2 writes it.
    void add(std::string_view piece, JoinedText& joined) override;
    void add_bytes(std::string_view bytes, JoinedText& joined);
    void finish(JoinedText& joined) const override;

private:
    std::string bytes_;  // the beginning of a character
};

// SentencePiece's pieces of single bytes, such as <0xE2>.
std::string byte_piece(unsigned char byte);
std::optional<char> byte_of_piece(std::string_view piece);

// For display: the piece's text, and <0xE2> for a byte that is only a part of a character.
std::string readable_bytes(std::string_view piece);

}  // namespace headscope
