#include "text/gpt2_words.h"

#include <utf8proc.h>

#include <cstddef>
#include <cstdint>

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

enum class Class : std::uint8_t { Space, Letter, Number, Other };

Class class_at(std::string_view text, std::size_t& at) {
    const char32_t c = next_character(text, at);
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return is_white_space(c)                                                      ? Class::Space
           : category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO ? Class::Letter
           : category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO ? Class::Number
                                                                                  : Class::Other;
}

// The end of the run of `wanted` from `at`; `last` is where its last character begins.
std::size_t end_of_run(std::string_view text, std::size_t at, Class wanted, std::size_t& last) {
    for (std::size_t next = at; next < text.size(); at = next) {
        if (class_at(text, next) != wanted) {
            break;
        }
        last = at;
    }
    return at;
}

std::size_t contraction(std::string_view text) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
        if (text.starts_with(ending)) {
            return ending.size();
        }
    }
    return 0;
}

std::size_t length_of_word(std::string_view text) {
    if (const std::size_t length = contraction(text); length > 0) {
        return length;
    }
    std::size_t first = text.front() == ' ' && text.size() > 1 ? 1 : 0;
    std::size_t next = first;
    Class kind = class_at(text, next);
    if (kind == Class::Space) {  // of the space before a space, the latter is not a word
        first = 0;
    }
    std::size_t last = first;
    const std::size_t end = end_of_run(text, first, kind, last);
    // White space leaves its last character to the word that follows.
    return kind == Class::Space && end < text.size() && last > 0 ? last : end;
}

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        words.push_back(text.substr(0, length_of_word(text)));
        text.remove_prefix(words.back().size());
    }
    return words;
}

}  // namespace headscope
