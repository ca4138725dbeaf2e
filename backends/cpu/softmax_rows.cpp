#include "backends/cpu/softmax_rows.h"

#include <algorithm>

#include "backends/cpu/row_math.h"

namespace headscope::cpu {

// In blocks of 16, the last padded with -inf.
HEADSCOPE_CLONES void softmax_row(const float* scores, float* weights, std::int64_t allowed) {
    const float largest = largest_of(scores, allowed);
    float lanes[kLanes] = {};
    std::int64_t j = 0;
    for (; j + kLanes <= allowed; j += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const float weight = exp_fast(scores[j + lane] - largest);
            weights[j + lane] = weight;
            lanes[lane] += weight;
        }
    }
    if (j < allowed) {
        float rest[kLanes];
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            rest[lane] = std::bit_cast<float>(0xff800000U);
        }
        std::copy(scores + j, scores + allowed, rest);
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            rest[lane] = exp_fast(rest[lane] - largest);
        }
        for (std::int64_t lane = 0; j + lane < allowed; ++lane) {
            weights[j + lane] = rest[lane];
            lanes[lane] += rest[lane];
        }
    }
    const float scale = 1.0F / total_of(lanes);
    for (std::int64_t i = 0; i < allowed; ++i) {
        weights[i] *= scale;
    }
}

HEADSCOPE_CLONES void softmax_back_row(const float* weights, const float* grad_weights, float* grad_scores,
                                       std::int64_t keys, bool adds) {
    const float mean = sum_over(keys, [&](std::int64_t j) { return weights[j] * grad_weights[j]; });
    if (adds) {
        for (std::int64_t j = 0; j < keys; ++j) {
            grad_scores[j] += weights[j] * (grad_weights[j] - mean);
        }
    } else {
        for (std::int64_t j = 0; j < keys; ++j) {
            grad_scores[j] = weights[j] * (grad_weights[j] - mean);
        }
    }
}

}  // namespace headscope::cpu
