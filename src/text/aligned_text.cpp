#include "text/aligned_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "support/utf8.h"

namespace headscope {

AlignedText aligned(std::string_view text) {
    AlignedText characters;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = next_character(text, at);
        characters.push_back({c, {begin, at}});
    }
    return characters;
}

void append_made_from(AlignedText& text, std::u32string_view characters, ByteSpan span) {
    for (const char32_t c : characters) {
        text.push_back({c, {span.begin, span.begin}});
    }
    if (!characters.empty()) {
        text.back().span.end = span.end;
    }
}

void append_utf8(std::string& bytes, char32_t c) {
    std::array<utf8proc_uint8_t, 4> encoded{};
    const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), encoded.data());
    bytes.append(encoded.begin(), encoded.begin() + count);
}

void AlignedWord::append(const AlignedCharacter& character) {
    append_utf8(text, character.c);
    begins.push_back(text.size());
    spans.push_back(character.span);
}

std::size_t AlignedWord::character_at(std::size_t byte) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(begins, byte) - begins.begin());
}

ByteSpan AlignedWord::source(std::size_t first, std::size_t last) const {
    if (first < last) {
        return {spans[first].begin, spans[last - 1].end};
    }
    const std::size_t at = first < size() ? spans[first].begin : spans.empty() ? 0 : spans.back().end;
    return {at, at};
}

std::u32string code_points(std::string_view text) {
    std::u32string characters;
    for (std::size_t at = 0; at < text.size();) {
        characters += next_character(text, at);
    }
    return characters;
}

AlignedWord utf8_of(const AlignedText& text) {
    AlignedWord word;
    for (const AlignedCharacter& character : text) {
        word.append(character);
    }
    return word;
}

}  // namespace headscope
