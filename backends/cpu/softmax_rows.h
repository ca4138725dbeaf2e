// The softmax of one row of attention, and its backward.
#pragma once

#include <cstdint>

namespace headscope::cpu {

// weights = softmax of these scores; may be the scores.
void softmax_row(const float* scores, float* weights, std::int64_t allowed);

// grad_scores = weights * (grad_weights - the sum of weights * grad_weights), added if `adds`.
void softmax_back_row(const float* weights, const float* grad_weights, float* grad_scores, std::int64_t keys,
                      bool adds);

}  // namespace headscope::cpu
