#include "text/numbered_pieces.h"

#include <algorithm>
#include <utility>

#include "support/utf8.h"
#include "text/byte_pieces.h"

namespace headscope {

namespace {

constexpr std::string_view kUnknownSurface = " \u2047 ";  // SentencePiece's
constexpr std::string_view kReplacement = "\ufffd";

// Spaces at the end are held back, though the spans of their pieces count them.
class NumberedJoiner final : public Joiner {
public:
    explicit NumberedJoiner(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    void add(std::string_view piece, JoinedText& joined) override {
        const std::optional<std::int32_t> id = vocabulary_.find(piece);
        const PieceKind kind = id ? vocabulary_.piece(*id).kind : PieceKind::Normal;
        if (const auto byte = kind == PieceKind::Byte ? byte_of_piece(piece) : std::nullopt) {
            bytes_ += *byte;
            append_bytes(joined, false);
            return;
        }
        append_bytes(joined, true);
        const std::string text = kind == PieceKind::Unknown ? std::string(kUnknownSurface) : with_marks_as(" ", piece);
        append(joined.text.empty() ? text.substr(std::min(text.find_first_not_of(' '), text.size())) : text, joined);
    }

    void finish(JoinedText& joined) const override {
        NumberedJoiner(*this).append_bytes(joined, true);
        for (ByteSpan& span : joined.spans) {
            span = {std::min(span.begin, joined.text.size()), std::min(span.end, joined.text.size())};
        }
    }

private:
    void append(std::string_view text, JoinedText& joined) {
        const std::size_t begin = joined.text.size() + spaces_;
        const std::size_t size = text.find_last_not_of(' ') + 1;
        if (size > 0) {
            joined.text.append(std::exchange(spaces_, 0), ' ').append(text.substr(0, size));
        }
        spaces_ += text.size() - size;
        joined.spans.push_back({begin, joined.text.size() + spaces_});
    }

    // U+FFFD for each byte that is not part of a character; `all`: also for the beginning of one.
    void append_bytes(JoinedText& joined, bool all) {
        std::size_t at = 0;
        while (at < bytes_.size() && (all || !begins_character(std::string_view(bytes_).substr(at)))) {
            const std::size_t first = at;
            const bool valid = next_code_point(bytes_, at).has_value();
            for (std::size_t byte = first + 1; byte < at; ++byte) {  // the last byte has the character
                append("", joined);
            }
            append(valid ? std::string_view(bytes_).substr(first, at - first) : kReplacement, joined);
        }
        bytes_.erase(0, at);
    }

    const Vocabulary& vocabulary_;
    std::string bytes_;
    std::size_t spaces_ = 0;
};

}  // namespace

std::string with_marks_as(std::string_view space, std::string_view piece) {
    std::string text;
    while (!piece.empty()) {
        const std::size_t mark = std::min(piece.find(kWordStart), piece.size());
        text += piece.substr(0, mark);
        text += mark < piece.size() ? space : "";
        piece.remove_prefix(std::min(mark + kWordStart.size(), piece.size()));
    }
    return text;
}

NumberedPieces::NumberedPieces(std::shared_ptr<const Segmenter> inner, std::shared_ptr<const Vocabulary> vocabulary)
    : inner_(std::move(inner)), vocabulary_(std::move(vocabulary)) {}

std::unique_ptr<Joiner> NumberedPieces::joiner() const {
    return std::make_unique<NumberedJoiner>(*vocabulary_);
}

}  // namespace headscope
