// The softmax of a row of attention in whole vectors.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/cpu/lanes.h"

namespace headscope::cpu {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// In place, of scores up to a multiple of 16, those that do not count minus infinity; `largest` of all.
template <class Lanes>
HEADSCOPE_INLINE void softmax_lanes(float* scores, std::int64_t count, float largest) {
    Lanes sum;
    sum.fill(0.0F);
    for (std::int64_t j = 0; j < count; j += kLanes) {
        Lanes weights;
        weights.load(scores + j);
        weights -= largest;
        exp_below(weights);
        weights.store(scores + j);
        sum += weights;
    }
    const float scale = 1.0F / total_lane(sum);
    for (std::int64_t j = 0; j < count; j += kLanes) {
        Lanes weights;
        weights.load(scores + j);
        weights *= scale;
        weights.store(scores + j);
    }
}

}  // namespace headscope::cpu
