// Text to pieces and back: SentencePiece (Kudo and Richardson, 2018) with BPE or unigram pieces. Paper 5.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/model_file.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace headscope {

// Bytes of a text.
struct ByteSpan {
    std::size_t begin = 0, end = 0;

    bool operator==(const ByteSpan&) const = default;
};

// Many threads may use one tokenizer at once. A vocabulary shared by both languages is one tokenizer used twice.
class Tokenizer {
public:
    // A SentencePiece model file. Error that names it when it is missing or no such model.
    static Tokenizer load(const std::string& path);
    // The same from its bytes; `name` is for messages.
    static Tokenizer from_bytes(std::string_view bytes, const std::string& name);
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    // Pieces alone: no bos, no eos. Text of unknown characters gives unk_id, empty text (is_empty_text) nothing. Error
    // for text that is not UTF-8.
    std::vector<std::int32_t> encode(std::string_view text) const;
    std::vector<std::string> encode_pieces(std::string_view text) const;

    // Which bytes of `text` each piece of encode(text) was made of. Of the pieces of one character the last has it.
    std::vector<ByteSpan> encoded_spans(std::string_view text) const;

    // Whether it is encoded as blanks alone, or nothing, where it is part of a longer text.
    bool is_blank(std::string_view text) const;

    // Detokenised text. Control pieces (pad, bos, eos) are dropped; unk reads " \u2047 ". Error for an id outside the
    // vocabulary.
    std::string decode(const std::vector<std::int32_t>& ids) const;
    // Which bytes of decode(ids) each id became.
    std::vector<ByteSpan> decoded_spans(const std::vector<std::int32_t>& ids) const;

    std::int32_t size() const;
    const std::string& piece(std::int32_t id) const;     // "\u2581the"; Error for an id outside the vocabulary
    std::int32_t id_of(const std::string& piece) const;  // unk_id for a piece that does not exist

    TokenizerType type() const { return type_; }
    const std::string& name() const { return name_; }  // the file, for messages
    bool is_normal(std::int32_t id) const;             // text, and not a control piece, a byte or unknown
    float score(std::int32_t id) const;                // of byte-pair pieces: the higher, the earlier it was merged

    // -1 where the model has none (some models of others lack pad or bos); the trainer below gives 0, 1, 2, 3.
    std::int32_t pad_id() const;
    std::int32_t bos_id() const;
    std::int32_t eos_id() const;
    std::int32_t unk_id() const;

private:
    Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor, std::string name, TokenizerType type);
    void check_text(std::string_view text) const;
    void check_id(std::int32_t id) const;

    std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
    std::string name_;
    TokenizerType type_;
};

}  // namespace headscope
