// Reads the vocabularies of other programs, and those beside a segmenter in a model directory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace headscope {

// What the file itself does not say.
struct VocabularyRules {
    // The texts of the special pieces. Empty: the first piece with a usual name (`<pad>`, [CLS], `</s>`, ...), if any.
    std::string pad = {}, bos = {}, eos = {}, unk = {};
    std::vector<std::string> control = {};  // further pieces that never come from text
    std::vector<std::string> append = {};   // control pieces that follow those of the file, such as languages
    // Pieces that are found in texts; those that are not in the file follow it, as far as `size` allows.
    std::vector<AddedToken> added = {};
    // Of `added`, in the same order; -1 or nothing: the next one. Unused pieces fill the gap before a greater one.
    std::vector<std::int32_t> added_ids = {};
    bool append_unknown = false;  // `<unk>` after the last piece if there is none (CTranslate2)
    // Sentinels such as `<extra_id_0>` may occur twice: the second is unused (CTranslate2's conversions of T5).
    bool repeats_sentinels = false;
    std::int32_t size = 0;  // unused pieces fill the vocabulary up to this size
};

// The format follows from the content:
// - JSON: an object of pieces and ids, an array of pieces, vocabulary_json(), or a tokenizer.json
// - YAML: a map of pieces and ids (Marian)
// - text: one piece per line (CTranslate2, BERT), or "piece count" per line after `<s> <pad> </s> <unk>` (fairseq)
// - a SentencePiece model with its own ids (Marian)
// Besides the special pieces, language tokens (is_language_token) and `<mask>` are control pieces. Errors name file and
// piece: an id that is missing, occurs twice or is not an integer from 0, a piece that occurs twice or is empty, a
// special piece that does not exist.
std::shared_ptr<const Vocabulary> read_vocabulary(const std::string& path, const VocabularyRules& rules = {});
// The same from the file's bytes; `name` is for messages.
std::shared_ptr<const Vocabulary> parse_vocabulary(std::string_view bytes, const std::string& name,
                                                   const VocabularyRules& rules = {});
// The same from pieces in the order of their ids; `special` are the ids that are known already.
std::shared_ptr<const Vocabulary> numbered_vocabulary(std::vector<Piece> pieces, SpecialPieces special,
                                                      const std::string& name, const VocabularyRules& rules = {});

// Whether a piece names a language, as in OPUS-MT (`>>deu<<`), M2M100 (`__de__`) and NLLB (`deu_Latn`).
bool is_language_token(std::string_view piece);

// The special pieces that have usual names.
SpecialPieces usual_special(const std::vector<Piece>& pieces);

// JSON with everything but scores: {"pieces": {piece: id}, "special": {"pad": piece}, "control": [piece], "unused":
// [piece], "bytes": [piece], "added": [{"content": piece, "lstrip": true, ...}]}.
std::string vocabulary_json(const Vocabulary& vocabulary);

}  // namespace headscope
