// Converts text to pieces and back: SentencePiece (Kudo and Richardson, 2018) with BPE or unigram pieces. Paper 5.1.
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

// A range of bytes of a text.
struct ByteSpan {
    std::size_t begin = 0, end = 0;

    bool operator==(const ByteSpan&) const = default;
};

// Thread-safe. A vocabulary shared by both languages is one tokenizer used twice.
class Tokenizer {
public:
    // Loads a SentencePiece model file. Error that names it if it is missing or invalid.
    static Tokenizer load(const std::string& path);
    // The same from its bytes; `name` is for messages.
    static Tokenizer from_bytes(std::string_view bytes, const std::string& name);
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    // Pieces without bos and eos. Unknown characters give unk_id; empty text (is_empty_text) gives an empty list. Error
    // for text that is not UTF-8.
    std::vector<std::int32_t> encode(std::string_view text) const;
    std::vector<std::string> encode_pieces(std::string_view text) const;

    // The bytes of `text` from which each piece of encode(text) was made. If one character becomes several pieces, the
    // last one has it.
    std::vector<ByteSpan> encoded_spans(std::string_view text) const;

    // Whether the text, as part of a longer one, is encoded as blanks only or as nothing.
    bool is_blank(std::string_view text) const;

    // Detokenized text. Control pieces (pad, bos, eos) are dropped; unk becomes " \u2047 ". Error for an id outside the
    // vocabulary.
    std::string decode(const std::vector<std::int32_t>& ids) const;
    // The bytes of decode(ids) that each id became.
    std::vector<ByteSpan> decoded_spans(const std::vector<std::int32_t>& ids) const;

    std::int32_t size() const;
    const std::string& piece(std::int32_t id) const;     // "\u2581the"; Error for an id outside the vocabulary
    std::int32_t id_of(const std::string& piece) const;  // unk_id for a piece that does not exist

    TokenizerType type() const { return type_; }
    const std::string& name() const { return name_; }  // the file, for messages
    bool is_normal(std::int32_t id) const;             // text, not a control piece, a byte or unknown
    float score(std::int32_t id) const;                // of BPE pieces: higher scores merge first

    // -1 if the model has none (some foreign models lack pad or bos); our own trainer uses 0, 1, 2, 3.
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
