#include "text/sentencepiece_model.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "support/check.h"
#include "text/byte_pieces.h"
#include "text/model_file.h"

namespace headscope {

namespace {

using Processor = sentencepiece::SentencePieceProcessor;

// Decodes only the newest pieces, behind the first ones with text: the space before the first text is dropped.
class LibraryJoiner final : public Joiner {
public:
    LibraryJoiner(const Processor& processor, const Vocabulary& vocabulary)
        : processor_(processor), vocabulary_(vocabulary) {}

    void add(std::string_view piece, JoinedText& joined) override {
        pieces_.emplace_back(piece);
        const std::optional<std::int32_t> id = vocabulary_.find(piece);
        const bool is_byte = id && vocabulary_.piece(*id).kind == PieceKind::Byte;
        bytes_ = is_byte ? bytes_ + byte_of_piece(piece).value_or('\0') : "";
        if (ends_within_character()) {
            return;
        }
        bytes_.clear();
        append(joined);
        if (!has_text_) {
            done_ = pieces_.size();
            has_text_ = !joined.text.empty();
        }
        pieces_.resize(done_);
    }

    void finish(JoinedText& joined) const override { append(joined); }

private:
    bool ends_within_character() const {
        const std::string_view bytes = bytes_;
        for (std::size_t size = 1; size <= std::min<std::size_t>(3, bytes.size()); ++size) {
            if (begins_character(bytes.substr(bytes.size() - size))) {
                return true;
            }
        }
        return false;
    }

    void append(JoinedText& joined) const {
        const std::vector<std::string_view> pieces(pieces_.begin(), pieces_.end());
        const sentencepiece::ImmutableSentencePieceText decoded = processor_.DecodePiecesAsImmutableProto(pieces);
        const std::size_t known = done_ == 0 ? 0 : decoded.pieces(static_cast<int>(done_) - 1).end();
        const std::size_t begin = joined.text.size();
        for (std::size_t i = done_; i < pieces.size(); ++i) {
            const auto piece = decoded.pieces(static_cast<int>(i));
            joined.spans.push_back({begin + piece.begin() - known, begin + piece.end() - known});
        }
        joined.text += std::string_view(decoded.text()).substr(known);
    }

    const Processor& processor_;
    const Vocabulary& vocabulary_;
    std::vector<std::string> pieces_;
    std::size_t done_ = 0;  // of these, already joined
    std::string bytes_;     // of the last pieces
    bool has_text_ = false;
};

class SentencePieces final : public Segmenter {
public:
    SentencePieces(std::unique_ptr<const Processor> processor, TokenizerType type, std::string_view file,
                   std::shared_ptr<const Vocabulary> vocabulary)
        : processor_(std::move(processor)), type_(type), file_(file), vocabulary_(std::move(vocabulary)) {}

    TokenizerType type() const override { return type_; }
    std::string file() const override { return file_; }
    const Vocabulary* vocabulary() const override { return vocabulary_.get(); }

    std::vector<Segment> split(std::string_view text) const override {
        const sentencepiece::ImmutableSentencePieceText encoded = processor_->EncodeAsImmutableProto(text);
        if (encoded.text() != text) {  // set last, after all checks
            throw Error("encoding with '" + vocabulary_->name() + "' failed");
        }
        std::vector<Segment> segments;
        segments.reserve(encoded.pieces_size());
        for (const auto& piece : encoded.pieces()) {
            segments.push_back({piece.piece(), {piece.begin(), piece.end()}});
        }
        return segments;
    }

    std::unique_ptr<Joiner> joiner() const override {
        return std::make_unique<LibraryJoiner>(*processor_, *vocabulary_);
    }

private:
    std::unique_ptr<const Processor> processor_;
    TokenizerType type_;
    std::string file_;
    std::shared_ptr<const Vocabulary> vocabulary_;
};

PieceKind kind_of(const Processor& processor, int id) {
    return processor.IsControl(id)   ? PieceKind::Control
           : processor.IsUnknown(id) ? PieceKind::Unknown
           : processor.IsByte(id)    ? PieceKind::Byte
           : processor.IsUnused(id)  ? PieceKind::Unused
                                     : PieceKind::Normal;
}

}  // namespace

TokenizerParts open_sentencepiece(std::string_view bytes, const std::string& name) {
    const TokenizerType type = check_model_file(bytes, name);
    auto processor = std::make_unique<Processor>();
    std::string problem;
    try {
        problem = processor->LoadFromSerializedProto(bytes).ToString();
    } catch (const std::exception& error) {  // the library's trie throws on invalid pieces
        problem = error.what();
    }
    if (problem != sentencepiece::util::Status().ToString()) {
        throw Error(fmt::format("'{}' is not a SentencePiece model: {}", name, problem));
    }
    std::vector<Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(processor->GetPieceSize()));
    for (int id = 0; id < processor->GetPieceSize(); ++id) {
        pieces.push_back({processor->IdToPiece(id), kind_of(*processor, id), processor->GetScore(id)});
    }
    const SpecialPieces special{processor->pad_id(), processor->bos_id(), processor->eos_id(), processor->unk_id()};
    auto vocabulary = std::make_shared<const Vocabulary>(std::move(pieces), special, name);
    return {std::make_shared<SentencePieces>(std::move(processor), type, bytes, vocabulary), vocabulary};
}

}  // namespace headscope
