#include "text/token_finder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <utf8proc.h>

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// A word's character in Unicode's regular expressions: letters, marks, digits, joining punctuation, joiners.
bool is_word_character(char32_t c) {
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    const bool is_circled_letter = (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
                                   (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
           is_circled_letter || c == 0x200c || c == 0x200d;
}

std::size_t begin_of_last_character(std::string_view text) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80U) {
        --begin;
    }
    return begin;
}

char32_t character_at(std::string_view text, std::size_t at) {
    return next_character(text, at);
}

bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view before = text.substr(0, begin);
    return (before.empty() || !is_word_character(character_at(before, begin_of_last_character(before)))) &&
           (end == text.size() || !is_word_character(character_at(text, end)));
}

// Where the white space before `end` begins, from `least`.
std::size_t begin_of_blanks(std::string_view text, std::size_t least, std::size_t end) {
    while (end > least) {
        const std::size_t begin = begin_of_last_character(text.substr(0, end));
        if (!is_white_space(character_at(text, begin))) {
            break;
        }
        end = begin;
    }
    return end;
}

// Where the white space from `begin` ends.
std::size_t end_of_blanks(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    for (std::size_t at = begin; at < text.size() && is_white_space(next_character(text, at)); end = at) {
    }
    return end;
}

}  // namespace

TokenFinder::TokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
    for (std::size_t place = 0; place < tokens_.size(); ++place) {
        const std::string& content = tokens_[place].content;
        if (!content.empty() && places_.emplace(content, place).second) {
            sizes_.push_back(content.size());
            first_bytes_[static_cast<unsigned char>(content.front())] = true;
        }
    }
    std::ranges::sort(sizes_, std::greater());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
}

const std::size_t* TokenFinder::token_at(std::string_view text) const {
    if (!first_bytes_[static_cast<unsigned char>(text.front())]) {
        return nullptr;
    }
    for (const std::size_t size : sizes_) {
        const auto found = size <= text.size() ? places_.find(text.substr(0, size)) : places_.end();
        if (found != places_.end()) {
            return &found->second;
        }
    }
    return nullptr;
}

std::vector<TokenFinder::Found> TokenFinder::find(std::string_view text) const {
    std::vector<Found> found;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t* place = token_at(text.substr(at));
        if (place == nullptr) {
            ++at;
            continue;
        }
        const AddedToken& token = tokens_[*place];
        std::size_t end = at + token.content.size();
        if (!token.single_word || is_single_word(text, at, end)) {
            const std::size_t begin = token.lstrip ? begin_of_blanks(text, done, at) : at;
            end = token.rstrip ? end_of_blanks(text, end) : end;
            found.push_back({*place, {begin, end}});
            done = end;
        }
        at = end;
    }
    return found;
}

}  // namespace headscope
