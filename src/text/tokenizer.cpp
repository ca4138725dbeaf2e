#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "io/mapped_file.h"
#include "support/check.h"
#include "support/utf8.h"
#include "text/added_tokens.h"
#include "text/normalised.h"
#include "text/numbered_pieces.h"
#include "text/picture_pieces.h"
#include "text/sentencepiece_model.h"
#include "text/spaced_pieces.h"
#include "text/subword_nmt.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"
#include "text/vocabulary_formats.h"
#include "text/word_piece.h"

namespace headscope {

namespace {

void check_text(std::string_view text) {
    if (const std::optional<std::size_t> at = first_invalid_utf8(text)) {
        throw Error(fmt::format("the text is not UTF-8: byte {} is 0x{:02x}; convert it to UTF-8", *at + 1,
                                static_cast<unsigned char>(text[*at])));
    }
}

std::string_view text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool is_sentencepiece(const Segmenter& segmenter) {
    return segmenter.type() == TokenizerType::Bpe || segmenter.type() == TokenizerType::Unigram ||
           (segmenter.vocabulary() != nullptr && segmenter.type() == TokenizerType::Other);
}

// Without a vocabulary if the bytes number no pieces.
TokenizerParts parse_tokenizer(std::string_view bytes, const std::string& name) {
    if (is_json(bytes)) {
        return parse_tokenizer_json(bytes, name);
    }
    if (bytes.starts_with(kPicturePieces)) {
        const auto pictures = std::make_shared<const PicturePieces>(parse_picture_pieces(bytes, name));
        return {pictures, pictures->shared_vocabulary()};
    }
    if (bytes.starts_with(kSpacedPieces)) {
        const bool endings = next_line(bytes) == kEndedPieces;
        const std::shared_ptr<const Vocabulary> vocabulary =
            bytes.empty() ? nullptr : parse_word_pieces(bytes, name, 2);
        return {std::make_shared<SpacedPieces>(vocabulary, endings && vocabulary != nullptr), vocabulary};
    }
    if (is_word_piece_vocabulary(bytes)) {
        const std::shared_ptr<const Vocabulary> vocabulary = parse_word_pieces(bytes, name);
        return {std::make_shared<WordPieces>(vocabulary), vocabulary};
    }
    if (is_subword_nmt(bytes)) {
        return {std::make_shared<SubwordNmt>(bytes, name), nullptr};
    }
    return open_sentencepiece(bytes, name);
}

// T5's sentinels among the control pieces are found in texts.
TokenizerParts with_sentinels(TokenizerParts parts) {
    std::vector<AddedToken> sentinels;
    for (const Piece& piece : parts.vocabulary->pieces()) {
        if (piece.kind == PieceKind::Control && is_sentinel(piece.text)) {
            sentinels.push_back({piece.text});
        }
    }
    if (!sentinels.empty()) {
        std::string file = parts.segmenter->file();
        if (is_sentencepiece(*parts.segmenter)) {  // the library shows no control pieces
            parts.segmenter = std::make_shared<NumberedPieces>(std::move(parts.segmenter), parts.vocabulary);
        }
        parts.segmenter =
            std::make_shared<AddedTokens>(std::move(parts.segmenter), std::move(sentinels), std::move(file));
    }
    return parts;
}

// Error if most pieces of a segmenter have no id: it belongs to another model. A few without are usual.
void check_belongs(const Vocabulary& pieces, const Vocabulary& ids, const std::string& path) {
    const auto numbered = std::count_if(pieces.pieces().begin(), pieces.pieces().end(),
                                        [&](const Piece& piece) { return ids.find(piece.text).has_value(); });
    if (const std::int64_t missing = pieces.size() - numbered; missing > numbered) {
        throw Error(fmt::format("{}: {} of its {} pieces have no id in {}: one of the two belongs to another model",
                                path, missing, pieces.size(), ids.name()));
    }
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const Segmenter> segmenter, std::shared_ptr<const Vocabulary> vocabulary)
    : segmenter_(std::move(segmenter)), vocabulary_(std::move(vocabulary)) {}

Tokenizer Tokenizer::load(const std::string& path) {
    const MappedFile file(path);
    return from_bytes(text_of(file), path);
}

Tokenizer Tokenizer::load(const std::string& path, std::shared_ptr<const Vocabulary> vocabulary) {
    const MappedFile file(path);
    return from_bytes(text_of(file), path, std::move(vocabulary));
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name,
                                std::shared_ptr<const Vocabulary> vocabulary) {
    auto [segmenter, own] = parse_tokenizer(bytes, name);
    if (is_sentencepiece(*segmenter) && !is_json(bytes)) {
        check_belongs(*own, *vocabulary, name);
        segmenter = std::make_shared<NumberedPieces>(std::move(segmenter), vocabulary);
    }
    if (!vocabulary->added().empty()) {
        std::string file = segmenter->file();
        segmenter = std::make_shared<AddedTokens>(std::move(segmenter), vocabulary->added(), std::move(file));
    }
    return {std::move(segmenter), std::move(vocabulary)};
}

TokenizerFiles Tokenizer::files() const {
    return {segmenter_->file(), has_own_ids() ? "" : vocabulary_json(*vocabulary_)};
}

const PicturePieces* Tokenizer::pictures() const {
    return dynamic_cast<const PicturePieces*>(segmenter_.get());
}

const Vocabulary& Tokenizer::split_pieces() const {
    const Vocabulary* own = segmenter_->vocabulary();
    return own != nullptr ? *own : *vocabulary_;
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name) {
    TokenizerParts parts = parse_tokenizer(bytes, name);
    if (parts.vocabulary == nullptr) {
        throw Error(fmt::format("'{}' has no ids: give a vocabulary, too, such as dict.txt", name));
    }
    if (!is_json(bytes)) {
        parts = with_sentinels(std::move(parts));
    }
    return {std::move(parts.segmenter), std::move(parts.vocabulary)};
}

std::vector<Segment> Tokenizer::split(std::string_view text) const {
    check_text(text);
    return is_empty_text(text) ? std::vector<Segment>() : segmenter_->split(text);
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    const std::vector<Segment> segments = split(text);
    std::vector<std::int32_t> ids;
    ids.reserve(segments.size());
    for (const Segment& segment : segments) {
        ids.push_back(id_of(segment));
    }
    return ids;
}

std::vector<std::string> Tokenizer::encode_pieces(std::string_view text) const {
    std::vector<std::string> pieces;
    for (Segment& segment : split(text)) {
        pieces.push_back(std::move(segment.piece));
    }
    return pieces;
}

std::vector<ByteSpan> Tokenizer::encoded_spans(std::string_view text) const {
    std::vector<ByteSpan> spans;
    for (const Segment& segment : split(text)) {
        spans.push_back(segment.span);
    }
    return spans;
}

JoinedText Tokenizer::normalised(std::string_view text) const {
    const std::vector<std::string> pieces = encode_pieces(text);
    return segmenter_->join({pieces.begin(), pieces.end()});
}

bool Tokenizer::is_blank(std::string_view text) const {
    check_text(text);
    if (type() == TokenizerType::ByteBpe) {
        return is_empty_text(text);
    }
    const std::vector<Segment> segments = segmenter_->split(text);
    return std::all_of(segments.begin(), segments.end(), [&](const Segment& segment) {
        std::string_view piece = segment.piece;
        while (piece.starts_with(kWordStart)) {
            piece.remove_prefix(kWordStart.size());
        }
        return piece.empty();
    });
}

// Segmenters know no control pieces: these become no text, at the end of the piece before.
JoinedText Tokenizer::join(const std::vector<std::int32_t>& ids, Sentinels sentinels) const {
    const auto is_control = [&](std::int32_t id) { return !vocabulary_->has_text(id, sentinels); };
    std::vector<std::string_view> pieces;
    for (const std::int32_t id : ids) {
        if (!is_control(id)) {
            pieces.push_back(piece(id));
        }
    }
    JoinedText joined = segmenter_->join(pieces);
    std::vector<ByteSpan> spans;
    auto next = joined.spans.begin();
    for (const std::int32_t id : ids) {
        const std::size_t end = spans.empty() ? 0 : spans.back().end;
        spans.push_back(is_control(id) ? ByteSpan{end, end} : *next++);
    }
    joined.spans = std::move(spans);
    return joined;
}

std::int32_t Tokenizer::id_of(std::string_view piece) const {
    return vocabulary_->find(piece).value_or(unk_id());
}

std::int32_t Tokenizer::id_of(const Segment& segment) const {
    const std::int32_t id =
        segment.added ? vocabulary_->find(segment.piece).value_or(unk_id()) : vocabulary_->id_of_text(segment.piece);
    if (id < 0) {
        throw Error(fmt::format("'{}' has neither the piece '{}' nor one for unknown text", name(), segment.piece));
    }
    return id;
}

}  // namespace headscope
