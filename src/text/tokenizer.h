// Converts text to ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

class PicturePieces;

// The contents of a tokenizer's files. A segmenter that numbers its pieces itself needs no vocabulary.
struct TokenizerFiles {
    std::string segmenter, vocabulary;

    bool operator==(const TokenizerFiles&) const = default;
};

// A segmenter and a vocabulary. Thread-safe. A vocabulary shared by both languages is one tokenizer used twice.
class Tokenizer {
public:
    // Loads a SentencePiece model, a WordPiece vocabulary, a tokenizer.json, a list of words (SpacedPieces::file()) or
    // what reads pictures (PicturePieces::file()).
    // Error that names it if it is missing or invalid.
    static Tokenizer load(const std::string& path);
    // The same from its bytes; `name` is for messages.
    static Tokenizer from_bytes(std::string_view bytes, const std::string& name);
    Tokenizer(std::shared_ptr<const Segmenter> segmenter, std::shared_ptr<const Vocabulary> vocabulary);
    // Pieces of `path` with the ids of `vocabulary` (text/vocabulary_file.h). Pieces without an id are unknown, and are
    // not split further. Other files than load(path) reads: codes of subword-nmt, and SpacedPieces::file().
    static Tokenizer load(const std::string& path, std::shared_ptr<const Vocabulary> vocabulary);
    static Tokenizer from_bytes(std::string_view bytes, const std::string& name,
                                std::shared_ptr<const Vocabulary> vocabulary);
    // load(segmenter) or load(segmenter, read_vocabulary(vocabulary)) makes the tokenizer again.
    TokenizerFiles files() const;
    // Whether the ids are those of the segmenter's file.
    bool has_own_ids() const { return segmenter_->vocabulary() == vocabulary_.get(); }

    // Pieces without bos and eos. Unknown text gives unk_id; empty text (is_empty_text) gives an empty list. Error for
    // text that is not UTF-8.
    std::vector<Segment> split(std::string_view text) const;
    std::vector<std::int32_t> encode(std::string_view text) const;
    std::vector<std::string> encode_pieces(std::string_view text) const;
    // The bytes of `text` from which each piece was made.
    std::vector<ByteSpan> encoded_spans(std::string_view text) const;

    // The text of the pieces, including those that are not in the vocabulary, and the bytes of it of each.
    JoinedText normalised(std::string_view text) const;

    // Whether the text, as part of a longer one, is encoded as blanks only or as nothing.
    bool is_blank(std::string_view text) const;

    // Detokenized text. Control pieces (pad, bos, eos) are dropped; SentencePiece's unk becomes " \u2047 ". Error for
    // an id outside the vocabulary.
    JoinedText join(const std::vector<std::int32_t>& ids, Sentinels sentinels = Sentinels::Dropped) const;
    std::string decode(const std::vector<std::int32_t>& ids, Sentinels sentinels = Sentinels::Dropped) const {
        return join(ids, sentinels).text;
    }
    // Joins pieces that are not control pieces. Must not outlive this.
    std::unique_ptr<Joiner> joiner() const { return segmenter_->joiner(); }
    // The bytes of decode(ids) that each id became.
    std::vector<ByteSpan> decoded_spans(const std::vector<std::int32_t>& ids) const { return join(ids).spans; }

    const Vocabulary& vocabulary() const { return *vocabulary_; }
    // The pieces into which text is split, with their scores: the vocabulary, or those of the segmenter's own file.
    const Vocabulary& split_pieces() const;
    std::int32_t size() const { return vocabulary_->size(); }
    const std::string& piece(std::int32_t id) const { return vocabulary_->piece(id).text; }  // "\u2581the"
    std::int32_t id_of(std::string_view piece) const;  // unk_id for a piece that does not exist
    // The id of a piece that split() gave. Error if the vocabulary has neither this nor an unknown piece.
    std::int32_t id_of(const Segment& segment) const;
    // A piece for display: that of bytes as text.
    std::string readable(std::string_view piece) const { return segmenter_->readable(piece); }

    TokenizerType type() const { return segmenter_->type(); }
    // What reads pictures; null if it splits text.
    const PicturePieces* pictures() const;
    const std::string& name() const { return vocabulary_->name(); }  // the file, for messages

    // -1 if there is none (some foreign models lack pad or bos); our own trainer uses 0, 1, 2, 3.
    std::int32_t pad_id() const { return vocabulary_->special().pad; }
    std::int32_t bos_id() const { return vocabulary_->special().bos; }
    std::int32_t eos_id() const { return vocabulary_->special().eos; }
    std::int32_t unk_id() const { return vocabulary_->special().unk; }

private:
    std::shared_ptr<const Segmenter> segmenter_;
    std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace headscope
