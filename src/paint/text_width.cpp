#include "paint/text_width.h"

#include "support/utf8.h"

namespace headscope {

namespace {

bool one_of(char32_t c, std::u32string_view set) {
    return set.find(c) != std::u32string_view::npos;
}

double advance(char32_t c) {
    if (one_of(c, U"ijlI.,:;'|! ")) {
        return 0.40;
    }
    if (one_of(c, U"frt()[]-\"")) {
        return 0.47;
    }
    if (one_of(c, U"mwMW@%OQ<>=+~_")) {
        return 1.0;
    }
    if (c >= 'A' && c <= 'Z') {
        return 0.78;
    }
    if (c >= 0x0300 && c <= 0x036F) {
        return 0.0;  // combining marks
    }
    // From Hangul on, mostly full-width scripts; before it, alphabets.
    return c >= 0x1100 ? 1.0 : c >= 0x80 ? 0.80 : 0.65;
}

}  // namespace

double text_width(std::string_view text) {
    double width = 0.0;
    for (std::size_t at = 0; at < text.size();) {
        width += advance(next_character(text, at));
    }
    return width;
}

namespace {

// The number of bytes of a word that fit, at least one character.
std::size_t fitting(std::string_view word, double width) {
    std::size_t bytes = 0;
    double used = 0.0;
    for (std::size_t next = 0; next < word.size();) {
        const std::size_t first = next;
        next_character(word, next);
        used += text_width(word.substr(first, next - first));
        if (bytes > 0 && used > width) {
            break;
        }
        bytes = next;
    }
    return bytes;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, double width) {
    std::vector<std::string> lines;
    bool new_line = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        const bool line_ends = text.substr(end).starts_with('\n');
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        for (std::size_t most = fitting(word, width); most < word.size(); most = fitting(word, width)) {
            lines.emplace_back(word.substr(0, most));
            word.remove_prefix(most);
        }
        const bool fits = !new_line && text_width(lines.back()) + text_width(" ") + text_width(word) <= width;
        if (fits) {
            lines.back() += ' ';
            lines.back() += word;
        } else {
            lines.emplace_back(word);
        }
        new_line = line_ends;
    }
    return lines;
}

}  // namespace headscope
