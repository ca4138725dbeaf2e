// Token probabilities of hidden spans of texts under span models (T5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corruption.h"
#include "infer/forced_text.h"
#include "infer/teacher_forced.h"

namespace headscope {

// The blocks of about equal length that texts are cut into: models that take `longest` positions can read them, and
// have sentinels for them.
std::vector<TextBlock> span_blocks(const TextVocabulary& vocabulary, std::int64_t longest,
                                   std::span<const std::vector<std::int32_t>> texts);

// `texts` are pieces without special ids, the first of which is the text `first_number` of a file: that chooses the
// spans, as corrupt_spans() does, so that all models with these pieces are asked for the same ones. Each block gives
// the tokens of its target to its text: sentinels, hidden pieces and eos. Limits as in force_targets().
std::vector<std::vector<ForcedToken>> force_spans(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  std::span<const TextBlock> blocks, const TextVocabulary& vocabulary,
                                                  std::int64_t first_number, const ForcedLimits& limits = {});

}  // namespace headscope
