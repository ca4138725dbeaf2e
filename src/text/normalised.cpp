#include "text/normalised.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <utf8proc.h>

#include "support/utf8.h"
#include "text/case.h"
#include "text/normal_form.h"
#include "text/punctuation.h"

namespace headscope {
namespace {

utf8proc_category_t category_of(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_format(char32_t c) {
    return category_of(c) == UTF8PROC_CATEGORY_CF || utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->ignorable;
}

// SentencePiece's nmt_nfkc turns the replacement character and U+2581, its own sign for a space, into spaces.
bool is_separator(char32_t c) {
    const utf8proc_category_t category = category_of(c);
    return (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) || category == UTF8PROC_CATEGORY_CC ||
           c == 0xfffd || c == 0x2581;
}

bool is_mark(char32_t c) {
    const utf8proc_category_t category = category_of(c);
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

// Case folding and NFKC of NFKD. Maps to upper case first for the dotless i: Unicode does not fold it, but its capital
// is that of i.
std::string fold_and_compose(std::string_view decomposed) {
    return normalised_by(decomposed, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD,
                         [](utf8proc_int32_t c, void*) { return utf8proc_toupper(c); });
}

// NFKC and case folding without format characters. Marks are ordered before letters are folded, because folding turns
// the iota subscript into a letter.
std::string folded(std::string_view text) {
    if (is_ascii(text)) {
        return fold_case(text);  // the same, and faster
    }
    constexpr char32_t kIgnorable = 0x200B;
    return fold_and_compose(normalised_by(
        text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE, [](utf8proc_int32_t c, void*) {
            return is_format(static_cast<char32_t>(c)) ? static_cast<utf8proc_int32_t>(kIgnorable) : c;
        }));
}

template <class Map>
std::string where_utf8(std::string_view text, const Map& map) {
    std::string result;
    while (const std::optional<std::size_t> invalid = first_invalid_utf8(text)) {
        result += map(text.substr(0, *invalid)) + text[*invalid];
        text.remove_prefix(*invalid + 1);
    }
    return result + map(text);
}

// Replaces gaps between the remaining characters by `gap_text`. `is_gap` gets each character and whether it follows a
// gap or begins the text.
template <class IsGap>
std::string with_gaps(std::string_view text, std::string_view gap_text, const IsGap& is_gap) {
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
            result += gap_text;
        }
        gap = false;
        result += text.substr(first, at - first);
    }
    return result;
}

// A mark without a base letter belongs to the gap: NFKC turns the overline into a space with a mark.
std::string words_alone(std::string_view characters) {
    return with_gaps(characters, "", [](char32_t c, bool after_gap) {
        return is_separator(c) || is_punctuation(c) || (after_gap && is_mark(c));
    });
}

// Whether letters that became adjacent may compose. Apart from marks, Hangul's vowels and finals (U+1161 to U+11C2) are
// the only characters of the first plane that compose with the previous one.
bool may_compose(std::string_view words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
        const auto byte = static_cast<unsigned char>(words[at]);
        const auto next = static_cast<unsigned char>(at + 1 < words.size() ? words[at + 1] : '\0');
        if (byte >= 0xf0 || (byte == 0xe1 && next >= 0x85 && next <= 0x87)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string normalised_text(std::string_view text) {
    const std::string characters = where_utf8(text, folded);
    std::string words = words_alone(characters);
    if (words.empty()) {
        return with_gaps(characters, " ", [](char32_t c, bool) { return is_separator(c); });
    }
    return may_compose(words) ? where_utf8(words, fold_and_compose) : words;
}

bool has_words(std::string_view text) {
    return !words_alone(where_utf8(text, folded)).empty();
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
