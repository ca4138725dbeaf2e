// What masked and span models are given instead of the text, and what they predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/task.h"
#include "support/random.h"
#include "text/tokenizer.h"

namespace headscope {

constexpr double kCorruptedShare = 0.15;  // of the pieces, in BERT and T5
constexpr double kMeanSpan = 3.0;         // pieces of a span, in T5

// What these tasks need to know of a vocabulary.
struct TextVocabulary {
    std::int32_t mask = -1;                            // -1: none
    std::vector<std::int32_t> sentinels = {};          // `<extra_id_0>`, `<extra_id_1>` ...
    std::vector<std::int32_t> normal = {};             // what a masked piece is randomly replaced by
    std::vector<bool> is_text = {}, begins_word = {};  // by id
};
TextVocabulary text_vocabulary(const Tokenizer& tokenizer);
// The id of the mask; -1 if there is none.
std::int32_t mask_id(const Tokenizer& tokenizer);

// The control pieces of a vocabulary for this task, with examples of up to `pieces` pieces. `masks`: of a translator
// that fills in masks.
std::vector<std::string> control_pieces_of(Task task, std::int64_t pieces, bool masks = false);

// Devlin et al. (2019): samples 15 % of the pieces in block.target, at least one, which become labels. Of these 80 %
// are replaced by the mask, 10 % by a random piece, and 10 % stay. `whole_words`: the pieces of a word are sampled
// together. Depends only on the arguments.
struct MaskingKey {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
    std::uint32_t example = 0;
};
void mask_pieces(Example& block, const TextVocabulary& vocabulary, bool whole_words, const MaskingKey& key);

// Ghazvininejad et al. (2019): replaces a random number, 1 to all, of random pieces of the target by the mask, and
// labels these alone.
void mask_some(Example& pair, std::int32_t mask, Random random);

// Raffel et al. (2020): 15 % of the pieces, in random spans of 3 on average, are replaced by sentinels in the source.
// The target is each sentinel with its span. The last span ends the text, as in T5.
Example corrupt_spans(std::span<const std::int32_t> pieces, const TextVocabulary& vocabulary, Random random);
std::size_t spans_of(std::size_t pieces);

}  // namespace headscope
