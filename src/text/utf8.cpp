#include "text/utf8.h"

namespace headscope {

namespace {

struct Lead {
    std::size_t length = 0;                 // bytes of the whole character, 0 for a byte that begins none
    unsigned char low = 0x80, high = 0xbf;  // what the second byte may be
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) {
        return {1};
    }
    if (byte >= 0xc2 && byte <= 0xdf) {
        return {2};
    }
    switch (byte) {
        case 0xe0: return {3, 0xa0, 0xbf};  // shorter forms exist
        case 0xed: return {3, 0x80, 0x9f};  // surrogates
        case 0xf0: return {4, 0x90, 0xbf};  // shorter forms exist
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

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
        if (lead.length == 0 || lead.length > text.size() - at) {
            return at;
        }
        for (std::size_t next = 1; next < lead.length; ++next) {
            const auto byte = static_cast<unsigned char>(text[at + next]);
            if (byte < (next == 1 ? lead.low : 0x80) || byte > (next == 1 ? lead.high : 0xbf)) {
                return at;
            }
        }
        at += lead.length;
    }
    return std::nullopt;
}

}  // namespace headscope
