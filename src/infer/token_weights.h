// Options that change how likely a model's next tokens are, in the order of Hugging Face's logits processors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infer/search_task.h"

namespace headscope {

// Whether an option needs the probability of every token, given how many tokens are forbidden next.
bool weighs_tokens(const SearchOptions& options, std::size_t forbidden);

// The changed log probabilities after `tokens`; those of `forbidden` are -inf. Like Hugging Face's, greedy search and
// sampling change the logits, which are `log_sum` higher, and a beam search the log probabilities. They may be above 0.
std::vector<double> weighed_tokens(std::span<const float> log_probabilities, double log_sum,
                                   const SearchOptions& options, const TokenRules& rules, const SearchTask& task,
                                   const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& forbidden);

}  // namespace headscope
