#include "support/utf8.h"

namespace headscope {

namespace {

struct Lead {
    std::size_t length = 0;                 // bytes of the character, 0 for an invalid first byte
    unsigned char low = 0x80, high = 0xbf;  // range of the second byte
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) {
        return {1};
    }
    if (byte >= 0xc2 && byte <= 0xdf) {
        return {2};
    }
    switch (byte) {
        case 0xe0: return {3, 0xa0, 0xbf};  // overlong forms
        case 0xed: return {3, 0x80, 0x9f};  // surrogates
        case 0xf0: return {4, 0x90, 0xbf};  // overlong forms
        case 0xf4: return {4, 0x80, 0x8f};  // past U+10FFFF
        default: break;
    }
    if (byte >= 0xe1 && byte <= 0xef) {
        return {3};
    }
    if (byte >= 0xf1 && byte <= 0xf3) {
        return {4};
    }
    return {};
}

// Length in bytes of the well-formed character at `at`, or 0.
std::size_t length_at(std::string_view text, std::size_t at) {
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    if (lead.length > text.size() - at) {
        return 0;
    }
    for (std::size_t next = 1; next < lead.length; ++next) {
        const auto byte = static_cast<unsigned char>(text[at + next]);
        if (byte < (next == 1 ? lead.low : 0x80) || byte > (next == 1 ? lead.high : 0xbf)) {
            return 0;
        }
    }
    return lead.length;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = length_at(text, at);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::nullopt;
}

std::optional<char32_t> next_code_point(std::string_view text, std::size_t& position) {
    const std::size_t length = length_at(text, position);
    const std::size_t first = position;
    position += length == 0 ? 1 : length;
    if (length == 0) {
        return std::nullopt;
    }
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[first + i]); };
    char32_t c = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        c = (c << 6U) | (byte(i) & 0x3FU);
    }
    return c;
}

}  // namespace headscope
