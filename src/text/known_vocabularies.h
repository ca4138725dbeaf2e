// Vocabularies that other programs derive from a SentencePiece model, or from nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer_json.h"
#include "text/vocabulary.h"

namespace headscope {

// T5: the pieces of `sentencepiece`, then `<extra_id_99>` to `<extra_id_0>`, then those of `added` that are not among
// them, then unused ones up to `size`. mT5 has no extra ids. Extra ids and `added` are found in texts.
std::shared_ptr<const Vocabulary> t5_vocabulary(const Vocabulary& sentencepiece, std::int32_t extra_ids,
                                                std::int32_t size, AddedTokensList added = {});

// mBART and NLLB, as in fairseq: `<s> <pad> </s> <unk>`, the pieces of `sentencepiece` from the fourth, languages, then
// `<mask>`, then unused ones up to `size` (0: none). Error if the model's first pieces are not its special ones.
std::shared_ptr<const Vocabulary> fairseq_vocabulary(const Vocabulary& sentencepiece,
                                                     const std::vector<std::string>& languages, bool has_mask,
                                                     std::int32_t size, AddedTokensList added = {});

// CamemBERT: `<s>NOTUSED <pad> </s>NOTUSED <unk> <unk>NOTUSED`, the pieces of `sentencepiece` from the second,
// `<mask>`, then unused ones up to `size`.
std::shared_ptr<const Vocabulary> camembert_vocabulary(const Vocabulary& sentencepiece, std::int32_t size,
                                                       AddedTokensList added = {});

// Pegasus: `<pad> </s> <mask_1> <mask_2> <unk_2>` up to `<unk_102>`, the pieces of `sentencepiece` from the third, then
// unused ones up to `size`.
std::shared_ptr<const Vocabulary> pegasus_vocabulary(const Vocabulary& sentencepiece, std::int32_t size,
                                                     AddedTokensList added = {});

// For a model without any vocabulary: the ids as pieces, "0" to "size - 1".
std::shared_ptr<const Vocabulary> vocabulary_of_ids(std::int32_t size, SpecialPieces special, const std::string& name);

}  // namespace headscope
