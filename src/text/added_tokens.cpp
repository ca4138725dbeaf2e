#include "text/added_tokens.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace headscope {

namespace {

std::vector<AddedToken> normalised_contents(const NormalisingSegmenter& inner, std::vector<AddedToken> tokens) {
    for (AddedToken& token : tokens) {
        token.content = utf8_of(inner.normalised(token.content)).text;
    }
    return tokens;
}

}  // namespace

bool is_sentinel(const std::string& piece) {
    constexpr std::string_view kBegin = "<extra_id_";
    return piece.size() > kBegin.size() + 1 && piece.starts_with(kBegin) && piece.ends_with('>') &&
           std::all_of(piece.begin() + static_cast<std::ptrdiff_t>(kBegin.size()), piece.end() - 1,
                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

AddedTokens::AddedTokens(std::shared_ptr<const Segmenter> inner, std::vector<AddedToken> tokens, std::string file)
    : inner_(std::move(inner)), finder_(std::move(tokens)), file_(std::move(file)) {}

std::vector<Segment> AddedTokens::split(std::string_view text) const {
    std::vector<Segment> segments;
    std::size_t done = 0;
    const auto split_until = [&](std::size_t end) {
        const std::string_view section = text.substr(done, end - done);
        for (Segment& segment : section.empty() ? std::vector<Segment>()
                                : done == 0     ? inner_->split(section)
                                                : inner_->split_behind(section)) {
            segment.span = {segment.span.begin + done, segment.span.end + done};
            segments.push_back(std::move(segment));
        }
    };
    for (const TokenFinder::Found& found : finder_.find(text)) {
        split_until(found.span.begin);
        segments.push_back({finder_.tokens()[found.token].content, found.span, true});
        done = found.span.end;
    }
    split_until(text.size());
    return segments;
}

std::string AddedTokens::readable(std::string_view piece) const {
    const bool added =
        std::ranges::any_of(finder_.tokens(), [&](const AddedToken& token) { return token.content == piece; });
    return added ? std::string(piece) : inner_->readable(piece);
}

NormalisedTokens::NormalisedTokens(std::shared_ptr<const NormalisingSegmenter> inner, std::vector<AddedToken> tokens)
    : inner_(std::move(inner)), tokens_(std::move(tokens)), finder_(normalised_contents(*inner_, tokens_)) {}

std::vector<Segment> NormalisedTokens::split_sections(std::string_view text, bool begins) const {
    const AlignedText whole = inner_->normalised(text);
    const AlignedWord bytes = utf8_of(whole);
    const auto place = [&](std::size_t byte) {
        return whole.begin() + static_cast<std::ptrdiff_t>(bytes.character_at(byte));
    };
    std::vector<Segment> segments;
    auto done = whole.begin();
    const auto split_until = [&](AlignedText::const_iterator end) {
        if (done != end) {
            std::ranges::move(inner_->split_normalised({done, end}, begins && done == whole.begin()),
                              std::back_inserter(segments));
        }
    };
    for (const TokenFinder::Found& found : finder_.find(bytes.text)) {
        const auto begin = place(found.span.begin);
        const auto end = place(found.span.end);
        split_until(begin);
        segments.push_back({tokens_[found.token].content, {begin->span.begin, (end - 1)->span.end}, true});
        done = end;
    }
    split_until(whole.end());
    return segments;
}

}  // namespace headscope
