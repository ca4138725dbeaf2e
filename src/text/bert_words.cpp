#include "text/bert_words.h"

#include <utf8proc.h>

#include "support/utf8.h"
#include "text/punctuation.h"
#include "text/white_space.h"

namespace headscope {

namespace {

bool is_dropped(char32_t c) {
    return c == kReplacementCharacter || (utf8proc_category(static_cast<utf8proc_int32_t>(c)) >= UTF8PROC_CATEGORY_CC &&
                                          c != U'\t' && c != U'\n' && c != U'\r');
}

void append(BertWord& word, std::string_view character, ByteSpan span) {
    word.text += character;
    word.begins.push_back(word.text.size());
    word.spans.push_back(span);
}

}  // namespace

std::vector<BertWord> bert_words(std::string_view text) {
    std::vector<BertWord> words;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = next_character(text, at);
        const bool alone = is_punctuation(c) || is_ideograph(c);
        if (is_dropped(c)) {
            continue;
        }
        if (is_white_space(c)) {
            in_word = false;
            continue;
        }
        if (!in_word || alone) {
            words.push_back({"", {0}, {}});
        }
        append(words.back(), text.substr(begin, at - begin), {begin, at});
        in_word = !alone;
    }
    return words;
}

}  // namespace headscope
