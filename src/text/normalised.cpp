#include "text/normalised.h"

#include "text/case.h"

namespace headscope {
namespace {

bool is_space_or_punctuation(unsigned char c) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return c < 0x80 && !digit && !letter;
}

// Bytes of the separator outside ASCII that begins at `text`: U+00A0, or U+2000..U+206F; else 0.
std::size_t wide_separator(std::string_view text) {
    if (text.substr(0, 2) == "\u00a0") {
        return 2;
    }
    const bool general_punctuation =
        text.size() >= 3 && text[0] == '\xe2' &&
        (text[1] == '\x80' || (text[1] == '\x81' && static_cast<unsigned char>(text[2]) < 0xb0));
    return general_punctuation ? 3 : 0;
}

}  // namespace

std::string normalised_text(std::string_view text) {
    std::string result;
    bool gap = false;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t wide = wide_separator(text.substr(i));
        if (wide > 0 || is_space_or_punctuation(static_cast<unsigned char>(text[i]))) {
            gap = true;
            i += wide > 0 ? wide : 1;
            continue;
        }
        if (gap && !result.empty()) {
            result += ' ';
        }
        gap = false;
        result += text[i++];
    }
    return fold_case(result);
}

}  // namespace headscope
