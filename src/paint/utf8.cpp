#include "paint/utf8.h"

namespace headscope {

char32_t next_character(std::string_view text, std::size_t& position) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(position++);
    if (first < 0x80) {
        return first;
    }
    const std::size_t more = first < 0xC2 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF5 ? 3 : 0;
    if (more == 0 || position + more > text.size()) {
        return kReplacementCharacter;
    }
    char32_t value = first & (0x3FU >> more);
    for (std::size_t i = 0; i < more; ++i) {
        if ((byte(position + i) & 0xC0U) != 0x80U) {
            return kReplacementCharacter;
        }
        value = (value << 6U) | (byte(position + i) & 0x3FU);
    }
    // Overlong forms, surrogates and what lies past the last code point.
    const bool well_formed = (more < 2 || value >= 0x800) && (more < 3 || (value >= 0x10000 && value <= 0x10FFFF)) &&
                             (value < 0xD800 || value > 0xDFFF);
    if (!well_formed) {
        return kReplacementCharacter;
    }
    position += more;
    return value;
}

}  // namespace headscope
