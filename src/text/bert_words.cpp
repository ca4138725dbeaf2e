#include "text/bert_words.h"

#include <utf8proc.h>

#include <array>
#include <utility>

#include "support/utf8.h"
#include "text/punctuation.h"
#include "text/white_space.h"

namespace headscope {

namespace {

bool is_dropped(char32_t c) {
    return c == kReplacementCharacter || (utf8proc_category(static_cast<utf8proc_int32_t>(c)) >= UTF8PROC_CATEGORY_CC &&
                                          c != U'\t' && c != U'\n' && c != U'\r');
}

// A character, which may be a part of one in the text, and that one's bytes.
struct Part {
    char32_t c;
    ByteSpan span;
};

bool is_mark(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN;
}

// Appends the canonical decomposition without its marks. The last part has the character's bytes.
void append_stripped(std::vector<Part>& parts, char32_t c, ByteSpan span) {
    std::array<utf8proc_int32_t, 8> decomposed{};  // no character has more than 4
    int last_class = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), decomposed.data(),
                                                           decomposed.size(), UTF8PROC_DECOMPOSE, &last_class);
    const std::size_t before = parts.size();
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
        const auto part = static_cast<char32_t>(decomposed[static_cast<std::size_t>(i)]);
        if (!is_mark(part)) {
            parts.push_back({part, {span.begin, span.begin}});
        }
    }
    if (parts.size() > before) {
        parts.back().span.end = span.end;
    }
}

// Unicode's full mapping of one character, which does not depend on those around it.
void append_lower_case(std::vector<Part>& parts, char32_t c, ByteSpan span) {
    constexpr char32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;
    if (c == kCapitalDottedI) {
        parts.push_back({U'i', {span.begin, span.begin}});
        parts.push_back({kDotAbove, span});
    } else {
        parts.push_back({static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), span});
    }
}

std::vector<Part> normalised_parts(std::string_view text, const BertWordOptions& options) {
    std::vector<Part> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = next_character(text, at);
        if (options.clean_text && is_dropped(c)) {
            continue;
        }
        if (options.strip_accents) {
            append_stripped(parts, c, {begin, at});
        } else {
            parts.push_back({c, {begin, at}});
        }
    }
    if (options.lowercase) {
        for (const Part& part : std::exchange(parts, {})) {
            append_lower_case(parts, part.c, part.span);
        }
    }
    return parts;
}

void append(BertWord& word, const Part& part) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(part.c), bytes.data());
    word.text.append(bytes.begin(), bytes.begin() + count);
    word.begins.push_back(word.text.size());
    word.spans.push_back(part.span);
}

}  // namespace

std::vector<BertWord> bert_words(std::string_view text, const BertWordOptions& options) {
    std::vector<BertWord> words;
    bool in_word = false;
    for (const Part& part : normalised_parts(text, options)) {
        if (is_white_space(part.c)) {
            in_word = false;
            continue;
        }
        const bool alone = is_punctuation(part.c) || (options.split_ideographs && is_ideograph(part.c));
        if (!in_word || alone) {
            words.push_back({"", {0}, {}});
        }
        append(words.back(), part);
        in_word = !alone;
    }
    return words;
}

}  // namespace headscope
