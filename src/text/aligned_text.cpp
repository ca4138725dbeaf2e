#include "text/aligned_text.h"

#include <utf8proc.h>

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

AlignedWord utf8_of(const AlignedText& text) {
    AlignedWord word;
    for (const AlignedCharacter& character : text) {
        word.append(character);
    }
    return word;
}

}  // namespace headscope
