#include "text/spaced_pieces.h"

#include <algorithm>
#include <map>

#include "support/utf8.h"
#include "text/white_space.h"
#include "text/word_endings.h"
#include "text/word_piece.h"

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

std::string SpacedPieces::file() const {
    std::string lines = std::string(endings_ ? kEndedPieces : kSpacedPieces) + "\n";
    return vocabulary_ == nullptr ? lines : lines + word_piece_lines(*vocabulary_);
}

std::vector<Segment> SpacedPieces::split(std::string_view text) const {
    std::vector<Segment> segments;
    for (const ByteSpan word : words_of(text)) {
        std::string piece(text.substr(word.begin, word.end - word.begin));
        if (endings_ && vocabulary_->id_of_text(piece) == vocabulary_->special().unk) {
            const std::string ending = known_ending(*vocabulary_, piece);
            piece = ending.empty() ? piece : ending;
        }
        segments.push_back({std::move(piece), word});
    }
    return segments;
}

namespace {

class SpacingJoiner final : public Joiner {
public:
    void add(std::string_view piece, JoinedText& joined) override {
        joined.text += joined.spans.empty() ? "" : " ";
        const std::size_t begin = joined.text.size();
        joined.text += piece;
        joined.spans.push_back({begin, joined.text.size()});
    }
    void finish(JoinedText&) const override {}
};

}  // namespace

std::unique_ptr<Joiner> SpacedPieces::joiner() const {
    return std::make_unique<SpacingJoiner>();
}

std::vector<std::string> frequent_words(const std::vector<std::string>& lines, std::size_t most, std::int64_t minimum) {
    std::map<std::string, std::int64_t> counts;
    for (const std::string& line : lines) {
        for (const ByteSpan word : words_of(line)) {
            ++counts[line.substr(word.begin, word.end - word.begin)];
        }
    }
    std::vector<std::string> words;
    for (const auto& [word, count] : counts) {
        if (count >= minimum && kind_of_word_piece(word) == PieceKind::Normal) {
            words.push_back(word);
        }
    }
    std::stable_sort(words.begin(), words.end(),
                     [&](const std::string& a, const std::string& b) { return counts.at(a) > counts.at(b); });
    words.resize(std::min(words.size(), most));
    return words;
}

}  // namespace headscope
