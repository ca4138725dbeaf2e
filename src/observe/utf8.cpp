#include "observe/utf8.h"

#include "text/utf8.h"

namespace headscope {

char32_t next_character(std::string_view text, std::size_t& position) {
    const auto first = static_cast<unsigned char>(text[position]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const std::string_view bytes = text.substr(position, length);
    if (first_invalid_utf8(bytes)) {
        ++position;
        return kReplacementCharacter;
    }
    position += length;
    char32_t value = length == 1 ? first : first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        value = (value << 6U) | (static_cast<unsigned char>(bytes[i]) & 0x3FU);
    }
    return value;
}

}  // namespace headscope
