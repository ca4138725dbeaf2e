// What a causal language model thinks of whole responses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/context.h"
#include "data/batch.h"
#include "data/batcher.h"
#include "data/frame.h"
#include "model/model.h"

namespace headscope {

// The log-probability of each text's labels, computed as training does.
std::vector<double> log_probabilities(Context& ctx, const Model& model, const Batch& batch);

// For each text its labels' negative log-likelihoods, in order, computed as training does.
std::vector<std::vector<double>> label_losses(Context& ctx, const Model& model, std::span<const Example> texts,
                                              const Frame& frame, const BatchBudget& budget);
// The same of the scores of a model with such an output, those of each state that has a label one after the other.
std::vector<std::vector<double>> label_scores(Context& ctx, const Model& model, std::span<const Example> texts,
                                              const Frame& frame, const BatchBudget& budget);

// A score for each text of each example: of a model with a scalar output that of its last token, of another the
// log-probability of its labels. `batch_tokens`: padded, at a time; scores depend on the other texts only by rounding.
std::vector<std::vector<double>> score_responses(Context& ctx, const Model& model, std::span<const Example> examples,
                                                 const Frame& frame, std::int64_t batch_tokens);

}  // namespace headscope
