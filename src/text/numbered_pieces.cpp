#include "text/numbered_pieces.h"

#include <algorithm>
#include <utility>

#include "support/utf8.h"
#include "text/byte_pieces.h"

namespace headscope {

namespace {

constexpr std::string_view kUnknownSurface = " \u2047 ";  // SentencePiece's
constexpr std::string_view kReplacement = "\ufffd";

// Appends the text that byte pieces spell, U+FFFD for each byte that is not part of a character.
void append_bytes(JoinedText& joined, std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t first = at;
        const bool valid = next_code_point(bytes, at).has_value();
        const std::size_t begin = joined.text.size();
        joined.text += valid ? bytes.substr(first, at - first) : kReplacement;
        for (std::size_t byte = first + 1; byte < at; ++byte) {  // the last byte has the character
            joined.spans.push_back({begin, begin});
        }
        joined.spans.push_back({begin, joined.text.size()});
    }
}

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

JoinedText NumberedPieces::join(const std::vector<std::string_view>& pieces) const {
    JoinedText joined;
    std::string bytes;
    const auto append = [&](std::string_view text) {
        append_bytes(joined, std::exchange(bytes, {}));
        const std::size_t begin = joined.text.size();
        joined.text += joined.text.empty() ? text.substr(std::min(text.find_first_not_of(' '), text.size())) : text;
        joined.spans.push_back({begin, joined.text.size()});
    };
    for (const std::string_view piece : pieces) {
        const std::optional<std::int32_t> id = vocabulary_->find(piece);
        const PieceKind kind = id ? vocabulary_->piece(*id).kind : PieceKind::Normal;
        if (const auto byte = kind == PieceKind::Byte ? byte_of_piece(piece) : std::nullopt) {
            bytes += *byte;
        } else {
            append(kind == PieceKind::Unknown ? std::string(kUnknownSurface) : with_marks_as(" ", piece));
        }
    }
    append_bytes(joined, bytes);
    joined.text.resize(joined.text.find_last_not_of(' ') + 1);
    for (ByteSpan& span : joined.spans) {
        span = {std::min(span.begin, joined.text.size()), std::min(span.end, joined.text.size())};
    }
    return joined;
}

}  // namespace headscope
