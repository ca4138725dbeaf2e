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

bool is_mark(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN;
}

// Appends the canonical decomposition without its marks.
void append_stripped(AlignedText& parts, char32_t c, ByteSpan span) {
    std::array<utf8proc_int32_t, 8> decomposed{};  // no character has more than 4
    int last_class = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), decomposed.data(),
                                                           decomposed.size(), UTF8PROC_DECOMPOSE, &last_class);
    std::u32string stripped;
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
        const auto part = static_cast<char32_t>(decomposed[static_cast<std::size_t>(i)]);
        if (!is_mark(part)) {
            stripped += part;
        }
    }
    append_made_from(parts, stripped, span);
}

// Unicode's full mapping of one character, which does not depend on those around it.
void append_lower_case(AlignedText& parts, char32_t c, ByteSpan span) {
    constexpr char32_t kCapitalDottedI = 0x130;
    if (c == kCapitalDottedI) {
        append_made_from(parts, U"i\u0307", span);  // with a dot above
    } else {
        parts.push_back({static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), span});
    }
}

void append_spaced(AlignedText& parts, const AlignedCharacter& part) {
    parts.push_back({U' ', {part.span.begin, part.span.begin}});
    parts.push_back(part);
    parts.push_back({U' ', {part.span.end, part.span.end}});
}

}  // namespace

AlignedText bert_normalised(std::string_view text, const BertWordOptions& options) {
    AlignedText parts;
    for (AlignedCharacter part : aligned(text)) {
        if (options.clean_text && is_dropped(part.c)) {
            continue;
        }
        part.c = options.clean_text && is_white_space(part.c) ? U' ' : part.c;
        if (options.split_ideographs && is_ideograph(part.c)) {
            append_spaced(parts, part);
        } else {
            parts.push_back(part);
        }
    }
    if (options.strip_accents) {
        for (const AlignedCharacter& part : std::exchange(parts, {})) {
            append_stripped(parts, part.c, part.span);
        }
    }
    if (options.lowercase) {
        for (const AlignedCharacter& part : std::exchange(parts, {})) {
            append_lower_case(parts, part.c, part.span);
        }
    }
    return parts;
}

std::vector<AlignedWord> bert_words(const AlignedText& normalised) {
    std::vector<AlignedWord> words;
    bool in_word = false;
    for (const AlignedCharacter& part : normalised) {
        if (is_white_space(part.c)) {
            in_word = false;
            continue;
        }
        const bool alone = is_punctuation(part.c);
        if (!in_word || alone) {
            words.emplace_back();
        }
        words.back().append(part);
        in_word = !alone;
    }
    return words;
}

}  // namespace headscope
