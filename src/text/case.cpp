#include "text/case.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <utf8proc.h>

#include "support/utf8.h"

namespace headscope {

namespace {

constexpr char32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr char32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;

char32_t small_letter(char32_t c) {
    return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

// Case_Ignorable (Unicode, definition D136). MidLetter, MidNumLet and Single_Quote are listed, because utf8proc has no
// word break properties.
bool case_ignorable(char32_t c) {
    constexpr auto kMidWord = std::to_array<char32_t>({0x27, 0x2E, 0x3A, 0xB7, 0x387, 0x55F, 0x5F4, 0x2018, 0x2019,
                                                       0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A});
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK: return true;
        default: return std::binary_search(kMidWord.begin(), kMidWord.end(), c);
    }
}

// Cased (D135), for characters that are not case-ignorable. utf8proc lacks Other_Lowercase and Other_Uppercase: the
// ordinal indicators, Roman numerals, and letters in circles and squares.
bool cased(char32_t c) {
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT: return true;
        default:
            return c == 0xAA || c == 0xBA || (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) ||
                   (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
    }
}

// Whether a cased letter follows, after any case-ignorable characters.
bool before_cased(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const std::optional<char32_t> c = next_code_point(text, at);
        if (!c || !case_ignorable(*c)) {
            return c && cased(*c);
        }
    }
    return false;
}

void append(std::string& text, char32_t c) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
    text.append(bytes.begin(), bytes.begin() + count);
}

// Calls `write` with each character and its end; std::nullopt for an invalid byte, which is kept.
template <class Write>
std::string rewrite(std::string_view text, const Write& write) {
    std::string written;
    written.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        const std::optional<char32_t> c = next_code_point(text, at);
        if (!c) {
            written += text[first];
        }
        write(written, c, at);
    }
    return written;
}

}  // namespace

std::string fold_case(std::string_view text) {
    return rewrite(text, [](std::string& written, std::optional<char32_t> c, std::size_t) {
        if (c) {
            append(written, *c == kFinalSigma ? kSigma : small_letter(*c));
        }
    });
}

std::string lower_case(std::string_view text) {
    bool after_cased = false;
    return rewrite(text, [&](std::string& written, std::optional<char32_t> c, std::size_t end) {
        if (!c) {
            after_cased = false;
            return;
        }
        const bool ends_word = *c == kCapitalSigma && after_cased && !before_cased(text, end);
        append(written, ends_word ? kFinalSigma : small_letter(*c));
        if (*c == kCapitalDottedI) {
            append(written, kDotAbove);
        }
        if (!case_ignorable(*c)) {
            after_cased = cased(*c);
        }
    });
}

}  // namespace headscope
