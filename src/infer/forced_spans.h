// Token probabilities of hidden spans of texts under span models (T5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corruption.h"
#include "infer/teacher_forced.h"

namespace headscope {

// `texts` are pieces without special ids, the first of which is the text `first_number` of a file: that chooses the
// spans, as corrupt_spans() does, so that all models with these pieces are asked for the same ones. A long text is cut
// into blocks of about equal length that the models can read and have sentinels for. Each block gives the tokens of its
// target: sentinels, hidden pieces and eos. Limits as in force_targets().
std::vector<std::vector<ForcedToken>> force_spans(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const TextVocabulary& vocabulary, std::int64_t first_number,
                                                  const ForcedLimits& limits = {});

}  // namespace headscope
