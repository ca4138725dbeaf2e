// Text that is changed before it is split, with the bytes from which it was made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

// A character, which may be a part of one in the text, and that one's bytes.
struct AlignedCharacter {
    char32_t c;
    ByteSpan span;
};
using AlignedText = std::vector<AlignedCharacter>;

// The characters of valid UTF-8.
AlignedText aligned(std::string_view text);
// Appends characters that were made from `span`. The last one has all of it, those before none.
void append_made_from(AlignedText& text, std::u32string_view characters, ByteSpan span);
void append_utf8(std::string& bytes, char32_t c);

// A word's characters, each with its bytes of the text.
struct AlignedWord {
    std::string text;
    std::vector<std::size_t> begins{0};  // of each character in `text`, then the end of `text`
    std::vector<ByteSpan> spans;         // of each character in the whole text

    void append(const AlignedCharacter& character);
    std::size_t size() const { return spans.size(); }
    // The characters from `first` to before `last`.
    std::string_view part(std::size_t first, std::size_t last) const {
        return std::string_view(text).substr(begins[first], begins[last] - begins[first]);
    }
    // The number of the character that begins at this byte of `text`, or size() at its end.
    std::size_t character_at(std::size_t byte) const;
    // The bytes of the whole text from which the characters from `first` to before `last` were made.
    ByteSpan source(std::size_t first, std::size_t last) const;
};

// The characters of valid UTF-8 alone.
std::u32string code_points(std::string_view text);

// The characters as one word.
AlignedWord utf8_of(const AlignedText& text);

}  // namespace headscope
