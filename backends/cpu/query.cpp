#include "backends/cpu/query.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"

namespace headscope::cpu {

namespace {

HEADSCOPE_INLINE const HeadRows& sizes_of(const HeadRows& rows) {
    return rows;
}

HEADSCOPE_INLINE const HeadRows& sizes_of(const NamedRows& rows) {
    return rows.first;
}

template <bool whole, class Rows>
HEADSCOPE_INLINE void multiply_add(const float* query, const Rows& keys, std::int64_t first, std::int64_t x,
                                   Lanes (&sums)[kLanes]) {
    const HeadRows& sizes = sizes_of(keys);
    Lanes q;
    load<whole>(query + x, sizes.depth - x, q);
    for (std::int64_t j = 0; j < kLanes; ++j) {
        const float* row = keys.row(std::min(first + j, sizes.count - 1));
        Lanes k;
        load<whole>(row + x, sizes.depth - x, k);
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
template <bool whole, int vectors, class Rows>
HEADSCOPE_INLINE void sum_columns(const float* weights, const Rows& values, std::int64_t x, std::int64_t count,
                                  float* out) {
    const std::int64_t rows = sizes_of(values).count;
    Lanes sums[kSums][vectors] = {};
    std::int64_t j = 0;
    for (; j + kSums <= rows; j += kSums) {
        for (int s = 0; s < kSums; ++s) {
            add_value<whole>(weights[j + s], values.row(j + s) + x, count, sums[s]);
        }
    }
    for (; j < rows; ++j) {
        add_value<whole>(weights[j], values.row(j) + x, count, sums[0]);
    }
    for (int i = 0; i < vectors; ++i) {
        const Lanes total = (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
        for (std::int64_t lane = 0; lane < (whole ? kLanes : count); ++lane) {
            out[x + i * kLanes + lane] = total[lane];
        }
    }
}

template <class Rows>
HEADSCOPE_INLINE void all_scores(const float* query, const Rows& keys, float scale, float* scores) {
    const HeadRows& sizes = sizes_of(keys);
    for (std::int64_t first = 0; first < sizes.count; first += kLanes) {
        Lanes sums[kLanes] = {};
        std::int64_t x = 0;
        for (; x + kLanes <= sizes.depth; x += kLanes) {
            multiply_add<true>(query, keys, first, x, sums);
        }
        if (x < sizes.depth) {
            multiply_add<false>(query, keys, first, x, sums);
        }
        Lanes totals;
        totals_of(sums, totals);
        const std::int64_t width = std::min(kLanes, sizes.count - first);
        for (std::int64_t j = 0; j < width; ++j) {
            scores[first + j] = scale * totals[j];
        }
    }
}

template <class Rows>
HEADSCOPE_INLINE void whole_sum(const float* weights, const Rows& values, float* out) {
    const std::int64_t depth = sizes_of(values).depth;
    std::int64_t x = 0;
    for (; x + 2 * kLanes <= depth; x += 2 * kLanes) {
        sum_columns<true, 2>(weights, values, x, kLanes, out);
    }
    for (; x + kLanes <= depth; x += kLanes) {
        sum_columns<true, 1>(weights, values, x, kLanes, out);
    }
    if (x < depth) {
        sum_columns<false, 1>(weights, values, x, depth - x, out);
    }
}

}  // namespace

HEADSCOPE_CLONES void scores_of(const float* query, const HeadRows& keys, float scale, float* scores) {
    all_scores(query, keys, scale, scores);
}

HEADSCOPE_CLONES void scores_of(const float* query, const NamedRows& keys, float scale, float* scores) {
    all_scores(query, keys, scale, scores);
}

HEADSCOPE_CLONES void weighted_sum(const float* weights, const HeadRows& values, float* out) {
    whole_sum(weights, values, out);
}

HEADSCOPE_CLONES void weighted_sum(const float* weights, const NamedRows& values, float* out) {
    whole_sum(weights, values, out);
}

}  // namespace headscope::cpu
