#include "text/sentencepiece_model.h"

#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "support/check.h"
#include "text/model_file.h"

namespace headscope {

namespace {

using Processor = sentencepiece::SentencePieceProcessor;

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

    JoinedText join(const std::vector<std::string_view>& pieces) const override {
        const sentencepiece::ImmutableSentencePieceText decoded = processor_->DecodePiecesAsImmutableProto(pieces);
        JoinedText joined{decoded.text(), {}};
        for (const auto& piece : decoded.pieces()) {
            joined.spans.push_back({piece.begin(), piece.end()});
        }
        return joined;
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
