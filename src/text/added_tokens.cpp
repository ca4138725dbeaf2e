#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

namespace {

// Where the white space at the end of the text begins.
std::size_t begin_of_blanks(std::string_view text) {
    std::size_t begin = text.size();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t first = at;
        if (!is_white_space(next_character(text, at))) {
            begin = text.size();
        } else if (begin == text.size()) {
            begin = first;
        }
    }
    return begin;
}

// Where the white space at the beginning ends.
std::size_t end_of_blanks(std::string_view text) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size() && is_white_space(next_character(text, at)); end = at) {
    }
    return end;
}

}  // namespace

AddedTokens::AddedTokens(std::shared_ptr<const Segmenter> inner, std::vector<AddedToken> tokens, std::string file)
    : inner_(std::move(inner)), tokens_(std::move(tokens)), file_(std::move(file)) {
    std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& one, const AddedToken& other) {
        return one.content.size() > other.content.size();
    });
    for (const AddedToken& token : tokens_) {
        first_bytes_[static_cast<unsigned char>(token.content.front())] = true;
    }
}

const AddedToken* AddedTokens::token_at(std::string_view text) const {
    if (!first_bytes_[static_cast<unsigned char>(text.front())]) {
        return nullptr;
    }
    const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                    [&](const AddedToken& token) { return text.starts_with(token.content); });
    return found == tokens_.end() ? nullptr : &*found;
}

std::vector<Segment> AddedTokens::split(std::string_view text) const {
    std::vector<Segment> segments;
    std::size_t done = 0;
    const auto split_until = [&](std::size_t end) {
        for (Segment& segment : done < end ? inner_->split(text.substr(done, end - done)) : std::vector<Segment>()) {
            segment.span = {segment.span.begin + done, segment.span.end + done};
            segments.push_back(std::move(segment));
        }
    };
    for (std::size_t at = 0; at < text.size();) {
        const AddedToken* token = token_at(text.substr(at));
        if (token == nullptr) {
            ++at;
            continue;
        }
        const std::size_t begin = token->lstrip ? done + begin_of_blanks(text.substr(done, at - done)) : at;
        std::size_t end = at + token->content.size();
        end += token->rstrip ? end_of_blanks(text.substr(end)) : 0;
        split_until(begin);
        segments.push_back({token->content, {begin, end}, true});
        at = done = end;
    }
    split_until(text.size());
    return segments;
}

std::string AddedTokens::readable(std::string_view piece) const {
    const bool added =
        std::any_of(tokens_.begin(), tokens_.end(), [&](const AddedToken& token) { return token.content == piece; });
    return added ? std::string(piece) : inner_->readable(piece);
}

}  // namespace headscope
