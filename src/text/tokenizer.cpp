#include "text/tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "io/mapped_file.h"
#include "support/check.h"
#include "support/utf8.h"
#include "text/normalised.h"

namespace headscope {

namespace {

void check(const sentencepiece::util::Status& status, const std::string& doing) {
    if (!status.ok()) {
        throw Error(fmt::format("{} failed: {}", doing, status.ToString()));
    }
}

std::vector<ByteSpan> spans_of(const sentencepiece::ImmutableSentencePieceText& text) {
    std::vector<ByteSpan> spans;
    for (const auto& piece : text.pieces()) {
        spans.push_back({piece.begin(), piece.end()});
    }
    return spans;
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor, std::string name,
                     TokenizerType type)
    : processor_(std::move(processor)), name_(std::move(name)), type_(type) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::string& path) {
    const MappedFile file(path);
    return from_bytes({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name) {
    const TokenizerType type = check_model_file(bytes, name);
    auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
    std::string problem;
    try {
        problem = processor->LoadFromSerializedProto(std::string(bytes)).ToString();
    } catch (const std::exception& error) {  // the library's trie throws on invalid pieces
        problem = error.what();
    }
    if (problem != sentencepiece::util::Status().ToString()) {
        throw Error(fmt::format("'{}' is not a SentencePiece model: {}", name, problem));
    }
    return {std::move(processor), name, type};
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    check_text(text);
    if (is_empty_text(text)) {
        return {};
    }
    std::vector<int> ids;
    check(processor_->Encode(std::string(text), &ids), "encoding with '" + name_ + "'");
    return {ids.begin(), ids.end()};
}

std::vector<std::string> Tokenizer::encode_pieces(std::string_view text) const {
    check_text(text);
    if (is_empty_text(text)) {
        return {};
    }
    std::vector<std::string> pieces;
    check(processor_->Encode(std::string(text), &pieces), "encoding with '" + name_ + "'");
    return pieces;
}

std::vector<ByteSpan> Tokenizer::encoded_spans(std::string_view text) const {
    check_text(text);
    if (is_empty_text(text)) {
        return {};
    }
    return spans_of(processor_->EncodeAsImmutableProto(text));
}

bool Tokenizer::is_blank(std::string_view text) const {
    constexpr std::string_view kBlank = "\u2581";
    check_text(text);
    std::vector<std::string> pieces;
    check(processor_->Encode(std::string(text), &pieces), "encoding with '" + name_ + "'");
    return std::all_of(pieces.begin(), pieces.end(), [&](std::string_view piece) {
        while (piece.starts_with(kBlank)) {
            piece.remove_prefix(kBlank.size());
        }
        return piece.empty();
    });
}

std::vector<ByteSpan> Tokenizer::decoded_spans(const std::vector<std::int32_t>& ids) const {
    std::for_each(ids.begin(), ids.end(), [this](std::int32_t id) { check_id(id); });
    return spans_of(processor_->DecodeIdsAsImmutableProto(std::vector<int>(ids.begin(), ids.end())));
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
    for (const std::int32_t id : ids) {
        check_id(id);
    }
    std::string text;
    check(processor_->Decode(std::vector<int>(ids.begin(), ids.end()), &text), "decoding with '" + name_ + "'");
    return text;
}

std::int32_t Tokenizer::size() const {
    return processor_->GetPieceSize();
}

const std::string& Tokenizer::piece(std::int32_t id) const {
    check_id(id);
    return processor_->IdToPiece(id);
}

std::int32_t Tokenizer::id_of(const std::string& piece) const {
    return processor_->PieceToId(piece);
}

bool Tokenizer::is_normal(std::int32_t id) const {
    check_id(id);
    return !processor_->IsControl(id) && !processor_->IsUnknown(id) && !processor_->IsUnused(id) &&
           !processor_->IsByte(id);
}

float Tokenizer::score(std::int32_t id) const {
    check_id(id);
    return processor_->GetScore(id);
}

std::int32_t Tokenizer::pad_id() const {
    return processor_->pad_id();
}
std::int32_t Tokenizer::bos_id() const {
    return processor_->bos_id();
}
std::int32_t Tokenizer::eos_id() const {
    return processor_->eos_id();
}
std::int32_t Tokenizer::unk_id() const {
    return processor_->unk_id();
}

void Tokenizer::check_text(std::string_view text) const {
    if (const std::optional<std::size_t> at = first_invalid_utf8(text)) {
        throw Error(fmt::format("the text is not UTF-8: byte {} is 0x{:02x}; convert it to UTF-8", *at + 1,
                                static_cast<unsigned char>(text[*at])));
    }
}

void Tokenizer::check_id(std::int32_t id) const {
    if (id < 0 || id >= size()) {
        throw Error(fmt::format("the id {} is outside the {} pieces of '{}': the tokenizer does not match the model",
                                id, size(), name_));
    }
}

}  // namespace headscope
