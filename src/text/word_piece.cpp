#include "text/word_piece.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/punctuation.h"
#include "text/target_mark.h"
#include "text/vocabulary_file.h"
#include "text/vocabulary_formats.h"

namespace headscope {

namespace {

constexpr std::array<std::string_view, 2> kUnknown{"<unk>", "[UNK]"};

// Appends the longest pieces of the word; false if they cannot spell it.
bool spell(const Vocabulary& vocabulary, const AlignedWord& word, std::vector<Segment>& segments) {
    for (std::size_t begin = 0; begin < word.size();) {
        std::string piece;
        std::size_t end = word.size();
        for (; end > begin; --end) {
            piece = begin > 0 ? kContinues : "";
            piece += word.part(begin, end);
            if (vocabulary.id_of_text(piece) != vocabulary.special().unk) {
                break;
            }
        }
        if (end == begin) {
            return false;
        }
        segments.push_back({std::move(piece), {word.spans[begin].begin, word.spans[end - 1].end}});
        begin = end;
    }
    return true;
}

bool is_one_of(std::string_view piece, std::string_view characters) {
    return piece.size() == 1 && characters.find(piece) != std::string_view::npos;
}

bool is_one_ideograph(std::string_view piece) {
    std::size_t at = 0;
    return is_ideograph(next_character(piece, at)) && at == piece.size();
}

// Whether a space separates the end of one word and the next word.
bool is_spaced(std::string_view before, std::string_view next, bool plain) {
    if (plain) {
        return !before.empty() && std::string_view(".,?!").find(next.front()) == std::string_view::npos;
    }
    constexpr std::string_view kTight = "'-/";
    const auto tight = [&](std::string_view piece) { return is_one_of(piece, kTight) || piece == "’"; };
    return !before.empty() && !is_one_of(next, ".,;:!?)]}%") && !is_one_of(before, "([{") && !tight(before) &&
           !tight(next) && !(is_one_ideograph(before) && is_one_ideograph(next));
}

}  // namespace

PieceKind kind_of_word_piece(std::string_view piece) {
    if (std::find(kUnknown.begin(), kUnknown.end(), piece) != kUnknown.end()) {
        return PieceKind::Unknown;
    }
    const bool bracketed = piece.size() > 2 && ((piece.front() == '<' && piece.back() == '>') ||
                                                (piece.front() == '[' && piece.back() == ']'));
    return bracketed || is_target_mark(piece) ? PieceKind::Control : PieceKind::Normal;
}

bool is_word_piece_vocabulary(std::string_view bytes) {
    bool unknown = false;
    for (std::string_view rest = bytes; !rest.empty() && !unknown;) {
        unknown = kind_of_word_piece(next_line(rest)) == PieceKind::Unknown;
    }
    return unknown && !first_invalid_utf8(bytes);
}

std::shared_ptr<const Vocabulary> parse_word_pieces(std::string_view bytes, const std::string& name,
                                                    std::size_t first_line) {
    std::vector<Piece> pieces;
    while (!bytes.empty()) {
        const std::string_view piece = next_line(bytes);
        if (piece.empty()) {
            throw Error(
                fmt::format("'{}' is not a list of pieces: line {} is empty", name, first_line + pieces.size()));
        }
        pieces.push_back({std::string(piece), kind_of_word_piece(piece)});
    }
    const SpecialPieces special = usual_special(pieces);
    return std::make_shared<Vocabulary>(std::move(pieces), special, name);
}

std::vector<Segment> WordPieces::split_normalised(AlignedText text, bool /*begins*/) const {
    std::vector<Segment> segments;
    for (const AlignedWord& word : bert_words(text)) {
        const std::size_t before = segments.size();
        if (word.size() > options_.longest_word || !spell(*vocabulary_, word, segments)) {
            segments.resize(before);
            // A word that is too long may be a piece all the same.
            const bool is_piece = vocabulary_->find(word.text).has_value();
            segments.push_back({is_piece ? vocabulary_->piece(vocabulary_->special().unk).text : word.text,
                                {word.spans.front().begin, word.spans.back().end}});
        }
    }
    return segments;
}

std::string word_piece_lines(const Vocabulary& vocabulary) {
    std::string lines;
    for (const Piece& piece : vocabulary.pieces()) {
        lines += piece.text + "\n";
    }
    return lines;
}

namespace {

class WordJoiner final : public Joiner {
public:
    explicit WordJoiner(bool plain) : plain_(plain) {}

    void add(std::string_view piece, JoinedText& joined) override {
        const bool continues =
            piece.size() > kContinues.size() && piece.starts_with(kContinues) && !(plain_ && before_.empty());
        if (!continues && is_spaced(before_, piece, plain_)) {
            joined.text += ' ';
        }
        const std::size_t begin = joined.text.size();
        joined.text += piece.substr(continues ? kContinues.size() : 0);
        joined.spans.push_back({begin, joined.text.size()});
        before_ = piece;
    }
    void finish(JoinedText&) const override {}

private:
    bool plain_;
    std::string before_;  // the last piece
};

}  // namespace

std::unique_ptr<Joiner> WordPieces::joiner() const {
    return std::make_unique<WordJoiner>(options_.plain_spaces);
}

}  // namespace headscope
