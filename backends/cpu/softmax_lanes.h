// The softmax of a row of attention in whole vectors.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/cpu/lanes.h"

namespace headscope::cpu {

constexpr LaneInts kLaneNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// In place, of scores up to a multiple of 16, those that do not count minus infinity; `largest` of all.
HEADSCOPE_INLINE void softmax_lanes(float* scores, std::int64_t count, float largest) {
    Lanes sum = {};
    for (std::int64_t j = 0; j < count; j += kLanes) {
        Lanes weights;
        std::memcpy(&weights, scores + j, sizeof(weights));
        weights -= largest;
        exp_below(weights);
        std::memcpy(scores + j, &weights, sizeof(weights));
        sum += weights;
    }
    const float scale = 1.0F / total_lane(sum);
    for (std::int64_t j = 0; j < count; j += kLanes) {
        Lanes weights;
        std::memcpy(&weights, scores + j, sizeof(weights));
        weights *= scale;
        std::memcpy(scores + j, &weights, sizeof(weights));
    }
}

}  // namespace headscope::cpu
