#include "eval/white_space.h"

#include <algorithm>
#include <utility>

namespace headscope {

namespace {

// Length of the white space that begins at `at`, 0 for none: Unicode's, and the ASCII separators 1C to 1F.
std::size_t white_space(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == ' ' || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1f)) {
        return 1;
    }
    const std::string_view two = text.substr(at, 2);
    if (two == "\xC2\x85" || two == "\xC2\xA0") {
        return 2;
    }
    const std::string_view three = text.substr(at, 3);
    const bool wide = three >= "\xE2\x80\x80" && three <= "\xE2\x80\x8A";  // U+2000 to U+200A
    const auto is = [&](const char* space) { return three == space; };
    return wide || is("\xE1\x9A\x80") || is("\xE2\x80\xA8") || is("\xE2\x80\xA9") || is("\xE2\x80\xAF") ||
                   is("\xE2\x81\x9F") || is("\xE3\x80\x80")
               ? 3
               : 0;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t space = white_space(text, at);
        if (space == 0) {
            word.push_back(text[at++]);
            continue;
        }
        at += space;
        if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    if (!word.empty()) {
        words.push_back(std::move(word));
    }
    return words;
}

std::string_view without_end_space(std::string_view text) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t space = white_space(text, at);
        at += std::max<std::size_t>(space, 1);
        end = space == 0 ? at : end;
    }
    return text.substr(0, end);
}

}  // namespace headscope
