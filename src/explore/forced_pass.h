// The model's own candidates at each position of a teacher-forced pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "autograd/context.h"
#include "explore/checked_request.h"
#include "explore/exploration.h"
#include "model/model.h"

namespace headscope {

// The tokens that a pass predicts, and where their hidden states are.
struct Predictions {
    std::vector<std::int32_t> tokens;
    std::vector<std::int64_t> positions;
    // Of these, the first ones, which a prompt or the frame of a translation gives and which do not count; 0 for a
    // prompt alone.
    std::size_t given = 0;

    // [length]: the tokens that count, at their positions; elsewhere kNoTarget.
    std::vector<std::int32_t> labels(std::int64_t length) const;
};
// The steps that a prompt gives: one for each of its tokens that the model predicts.
std::size_t prompt_steps(const ModelConfig& config, const CheckedRequest& request);
// A token to fill in that the request does not give is kNoTarget.
Predictions predictions_of(const ModelConfig& config, const CheckedRequest& request);
// The error if a token is not given, or if there is none; otherwise empty.
std::string missing_token(const Predictions& predictions);

// The error if there are fewer steps than predictions.
inline constexpr const char* kUnusable =
    "a token has no usable probability: the values that were put in place, or the model's weights, make it NaN or "
    "infinite";
// One step for each prediction; hidden is [1, length, d_model]. Where the token is not given, the likeliest is taken.
// What the frame of a translation gives has probability 1. Candidates have no text yet. Stops early at a token without
// a usable probability.
// The host gets the logits of a few rows at a time.
std::vector<ExploredStep> forced_steps(Context& ctx, const Model& model, const Var& hidden,
                                       const Predictions& predictions, int candidates);
// The same of logits that `logits_of` gives for adjacent positions: [rows, vocabulary].
using LogitRows = std::function<std::vector<double>(std::int64_t first, std::int64_t rows)>;
std::vector<ExploredStep> forced_steps(const ModelConfig& config, const Predictions& predictions, int candidates,
                                       const LogitRows& logits_of);

}  // namespace headscope
