// One query of attention against keys and values in place.
#pragma once

#include <cstdint>

namespace headscope::cpu {

// The keys or values of a head: rows of `depth` numbers.
struct HeadRows {
    const float* data = nullptr;
    std::int64_t step = 0;
    std::int64_t count = 0;
    std::int64_t depth = 0;
};

// scores[j] = scale * query . keys[j]
void scores_of(const float* query, const HeadRows& keys, float scale, float* scores);

// out = the sum of weights[j] * values[j]
void weighted_sum(const float* weights, const HeadRows& values, float* out);

}  // namespace headscope::cpu
