// What a causal language model thinks of whole responses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/context.h"
#include "data/batch.h"
#include "data/frame.h"
#include "model/model.h"

namespace headscope {

// The log-probability of each text's labels, computed as training does.
std::vector<double> log_probabilities(Context& ctx, const Model& model, const Batch& batch);

// A score for each text of each example: of a model with a scalar output that of its last token, of another the
// log-probability of its labels. `batch_tokens`: padded, at a time; scores depend on the other texts only by rounding.
// Error for a score that is not finite.
std::vector<std::vector<double>> score_responses(Context& ctx, const Model& model, std::span<const Example> examples,
                                                 const Frame& frame, std::int64_t batch_tokens);

}  // namespace headscope
