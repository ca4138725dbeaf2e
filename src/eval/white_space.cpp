#include "eval/white_space.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// Length of the white space character at `at`, 0 if there is none: Unicode's, and the ASCII separators 1C to 1F.
std::size_t white_space(std::string_view text, std::size_t at) {
    std::size_t end = at;
    const std::optional<char32_t> c = next_code_point(text, end);
    return c && (is_white_space(*c) || (*c >= 0x1c && *c <= 0x1f)) ? end - at : 0;
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
