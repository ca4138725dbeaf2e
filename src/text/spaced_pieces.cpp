#include "text/spaced_pieces.h"

#include "support/utf8.h"
#include "text/white_space.h"

namespace headscope {

std::vector<ByteSpan> words_of(std::string_view text) {
    std::vector<ByteSpan> words;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        if (is_white_space(next_character(text, at))) {
            in_word = false;
            continue;
        }
        if (!in_word) {
            words.push_back({begin, at});
        }
        words.back().end = at;
        in_word = true;
    }
    return words;
}

std::vector<Segment> SpacedPieces::split(std::string_view text) const {
    std::vector<Segment> segments;
    for (const ByteSpan word : words_of(text)) {
        segments.push_back({std::string(text.substr(word.begin, word.end - word.begin)), word});
    }
    return segments;
}

JoinedText SpacedPieces::join(const std::vector<std::string_view>& pieces) const {
    JoinedText joined;
    for (const std::string_view piece : pieces) {
        joined.text += joined.spans.empty() ? "" : " ";
        const std::size_t begin = joined.text.size();
        joined.text += piece;
        joined.spans.push_back({begin, joined.text.size()});
    }
    return joined;
}

}  // namespace headscope
