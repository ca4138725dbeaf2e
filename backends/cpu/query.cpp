#include "backends/cpu/query.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"

namespace headscope::cpu {

namespace {

template <bool whole>
HEADSCOPE_INLINE void multiply_add(const float* query, const HeadRows& keys, std::int64_t first, std::int64_t x,
                                   Lanes (&sums)[kLanes]) {
    Lanes q;
    load<whole>(query + x, keys.depth - x, q);
    for (std::int64_t j = 0; j < kLanes; ++j) {
        const float* row = keys.data + std::min(first + j, keys.count - 1) * keys.step;
        Lanes k;
        load<whole>(row + x, keys.depth - x, k);
        sums[j] += q * k;
    }
}

// kSums independent sums at a time, to hide latency.
constexpr int kSums = 4;

template <bool whole, int vectors>
HEADSCOPE_INLINE void add_value(float weight, const float* value, std::int64_t count, Lanes (&sum)[vectors]) {
    for (int i = 0; i < vectors; ++i) {
        Lanes v;
        load<whole>(value + i * kLanes, count, v);
        sum[i] += weight * v;
    }
}

// Columns [x, x + vectors * 16) of the sum; if `whole` is false, vectors is 1 and there are only `count` columns.
template <bool whole, int vectors>
HEADSCOPE_INLINE void sum_columns(const float* weights, const HeadRows& values, std::int64_t x, std::int64_t count,
                                  float* out) {
    Lanes sums[kSums][vectors] = {};
    std::int64_t j = 0;
    for (; j + kSums <= values.count; j += kSums) {
        for (int s = 0; s < kSums; ++s) {
            add_value<whole>(weights[j + s], values.data + (j + s) * values.step + x, count, sums[s]);
        }
    }
    for (; j < values.count; ++j) {
        add_value<whole>(weights[j], values.data + j * values.step + x, count, sums[0]);
    }
    for (int i = 0; i < vectors; ++i) {
        const Lanes total = (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
        for (std::int64_t lane = 0; lane < (whole ? kLanes : count); ++lane) {
            out[x + i * kLanes + lane] = total[lane];
        }
    }
}

}  // namespace

HEADSCOPE_CLONES void scores_of(const float* query, const HeadRows& keys, float scale, float* scores) {
    for (std::int64_t first = 0; first < keys.count; first += kLanes) {
        Lanes sums[kLanes] = {};
        std::int64_t x = 0;
        for (; x + kLanes <= keys.depth; x += kLanes) {
            multiply_add<true>(query, keys, first, x, sums);
        }
        if (x < keys.depth) {
            multiply_add<false>(query, keys, first, x, sums);
        }
        Lanes totals;
        totals_of(sums, totals);
        const std::int64_t width = std::min(kLanes, keys.count - first);
        for (std::int64_t j = 0; j < width; ++j) {
            scores[first + j] = scale * totals[j];
        }
    }
}

HEADSCOPE_CLONES void weighted_sum(const float* weights, const HeadRows& values, float* out) {
    std::int64_t x = 0;
    for (; x + 2 * kLanes <= values.depth; x += 2 * kLanes) {
        sum_columns<true, 2>(weights, values, x, kLanes, out);
    }
    for (; x + kLanes <= values.depth; x += kLanes) {
        sum_columns<true, 1>(weights, values, x, kLanes, out);
    }
    if (x < values.depth) {
        sum_columns<false, 1>(weights, values, x, values.depth - x, out);
    }
}

}  // namespace headscope::cpu
