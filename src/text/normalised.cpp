#include "text/normalised.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>

#include <utf8proc.h>

#include "support/check.h"
#include "text/case.h"
#include "text/utf8.h"

namespace headscope {
namespace {

utf8proc_category_t category_of(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_format(char32_t c) {
    return category_of(c) == UTF8PROC_CATEGORY_CF || utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->ignorable;
}

bool is_separator(char32_t c) {
    const utf8proc_category_t category = category_of(c);
    return (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) || category == UTF8PROC_CATEGORY_CC;
}

bool is_punctuation(char32_t c) {
    const utf8proc_category_t category = category_of(c);
    const bool symbol = category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
    return (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO) || (symbol && c < 0x80);
}

// `map` replaces each character before `options` are applied to it. The text is UTF-8.
std::string mapped(std::string_view text, int options, utf8proc_custom_func map) {
    utf8proc_uint8_t* bytes = nullptr;
    const utf8proc_ssize_t size = utf8proc_map_custom(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                      static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                                      static_cast<utf8proc_option_t>(options), map, nullptr);
    HEADSCOPE_CHECK(size >= 0, utf8proc_errmsg(size));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

// NFKC and case folding without format characters. Marks are put in order before letters are folded, since folding
// turns the iota subscript into a letter.
std::string folded(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; })) {
        return fold_case(text);  // the same, and faster
    }
    constexpr char32_t kIgnorable = 0x200B;
    const std::string decomposed = mapped(
        text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE, [](utf8proc_int32_t c, void*) {
            return is_format(static_cast<char32_t>(c)) ? static_cast<utf8proc_int32_t>(kIgnorable) : c;
        });
    // By way of the capital: the dotless i, which Unicode does not fold, has that of i.
    return mapped(decomposed, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD,
                  [](utf8proc_int32_t c, void*) { return utf8proc_toupper(c); });
}

std::string folded_where_utf8(std::string_view text) {
    std::string result;
    while (const std::optional<std::size_t> invalid = first_invalid_utf8(text)) {
        result += folded(text.substr(0, *invalid)) + text[*invalid];
        text.remove_prefix(*invalid + 1);
    }
    return result + folded(text);
}

// `is_gap` is asked about each character, and whether it follows a gap or begins the text.
template <class IsGap>
std::string with_gaps(std::string_view text, const IsGap& is_gap) {
    std::string result;
    bool gap = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        const std::optional<char32_t> c = next_code_point(text, at);
        if (c && is_gap(*c, gap)) {
            gap = true;
            continue;
        }
        if (gap && !result.empty()) {
            result += ' ';
        }
        gap = false;
        result += text.substr(first, at - first);
    }
    return result;
}

// A mark without a letter to bear it belongs to the gap: NFKC makes the overline a space that bears one.
std::string words_alone(std::string_view characters) {
    return with_gaps(characters, [](char32_t c, bool after_gap) {
        return is_separator(c) || is_punctuation(c) || (after_gap && category_of(c) == UTF8PROC_CATEGORY_MN);
    });
}

}  // namespace

std::string normalised_text(std::string_view text) {
    const std::string characters = folded_where_utf8(text);
    std::string words = words_alone(characters);
    return words.empty() ? with_gaps(characters, [](char32_t c, bool) { return is_separator(c); }) : words;
}

bool has_words(std::string_view text) {
    return !words_alone(folded_where_utf8(text)).empty();
}

bool is_empty_text(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::optional<char32_t> c = next_code_point(text, at);
        if (!c || !(is_separator(*c) || is_format(*c))) {
            return false;
        }
    }
    return true;
}

}  // namespace headscope
