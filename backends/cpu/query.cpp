#include "backends/cpu/query.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/softmax_lanes.h"

namespace headscope::cpu {

namespace {

HEADSCOPE_INLINE const HeadRows& sizes_of(const HeadRows& rows) {
    return rows;
}

HEADSCOPE_INLINE const HeadRows& sizes_of(const NamedRows& rows) {
    return rows.first;
}

constexpr std::int64_t kKeys = 4;  // at a time

// sums[j] += the products of columns [x, x + 16) with key first + j; missing keys repeat the last one.
template <bool whole, class Rows, class Lanes>
HEADSCOPE_INLINE void multiply_add(const float* query, const Rows& keys, std::int64_t first, std::int64_t x,
                                   Lanes (&sums)[kKeys]) {
    const HeadRows& sizes = sizes_of(keys);
    Lanes q;
    q.template load<whole>(query + x, sizes.depth - x);
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kKeys; ++j) {
        const float* row = keys.row(std::min(first + j, sizes.count - 1));
        Lanes k;
        k.template load<whole>(row + x, sizes.depth - x);
        sums[j].add_product(q, k);
    }
}

// Independent sums, to hide latency; with two parts each they stay in the registers of AVX2.
constexpr int kSums = 2;

template <bool whole, class Lanes>
HEADSCOPE_INLINE void add_value(float weight, const float* value, std::int64_t count, Lanes& sum) {
    Lanes v;
    v.template load<whole>(value, count);
    sum.add_product(weight, v);
}

// Columns [x, x + parts * 16) of the sum; if `whole` is false, parts is 1 and there are only `count` columns.
template <class Lanes, bool whole, int parts, class Rows>
HEADSCOPE_INLINE void sum_columns(const float* weights, const Rows& values, std::int64_t x, std::int64_t count,
                                  float* out) {
    const std::int64_t rows = sizes_of(values).count;
    Lanes sums[kSums][parts];
#pragma GCC unroll 2
    for (auto& own : sums) {
        set_zero(own);
    }
    std::int64_t j = 0;
    for (; j + kSums <= rows; j += kSums) {
#pragma GCC unroll 2
        for (int s = 0; s < kSums; ++s) {
            const float* row = values.row(j + s) + x;
#pragma GCC unroll 2
            for (int i = 0; i < parts; ++i) {
                add_value<whole>(weights[j + s], row + i * kLanes, count, sums[s][i]);
            }
        }
    }
    for (; j < rows; ++j) {
#pragma GCC unroll 2
        for (int i = 0; i < parts; ++i) {
            add_value<whole>(weights[j], values.row(j) + x + i * kLanes, count, sums[0][i]);
        }
    }
#pragma GCC unroll 2
    for (int i = 0; i < parts; ++i) {
        sums[0][i] += sums[1][i];
        sums[0][i].template store<whole>(out + x + i * kLanes, count);
    }
}

// Scores of the keys, and minus infinity up to a multiple of 16. Returns the largest.
template <class Lanes, class Rows>
HEADSCOPE_INLINE float all_scores(const float* query, const Rows& keys, float scale, float* scores) {
    const HeadRows& sizes = sizes_of(keys);
    Lanes largest;
    largest.fill(kMinusInfinity);
    for (std::int64_t first = 0; first < sizes.count; first += kLanes) {
        const std::int64_t count = std::min(kLanes, sizes.count - first);
        Lanes sums[kLanes];
        set_zero(sums);
        for (std::int64_t j = 0; j < count; j += kKeys) {
            Lanes own[kKeys];
            set_zero(own);
            std::int64_t x = 0;
            for (; x + kLanes <= sizes.depth; x += kLanes) {
                multiply_add<true>(query, keys, first + j, x, own);
            }
            if (x < sizes.depth) {
                multiply_add<false>(query, keys, first + j, x, own);
            }
#pragma GCC unroll 4
            for (std::int64_t i = 0; i < kKeys; ++i) {
                sums[j + i] = own[i];
            }
        }
        Lanes totals;
        totals_of(sums, totals);
        totals *= scale;
        if (count < kLanes) {
            totals.keep(0, count, kMinusInfinity);
        }
        largest.take_larger(totals);
        totals.store(scores + first);
    }
    return largest_lane(largest);
}

template <class Lanes, class Rows>
HEADSCOPE_INLINE void whole_sum(const float* weights, const Rows& values, float* out) {
    const std::int64_t depth = sizes_of(values).depth;
    std::int64_t x = 0;
    for (; x + 2 * kLanes <= depth; x += 2 * kLanes) {
        sum_columns<Lanes, true, 2>(weights, values, x, kLanes, out);
    }
    for (; x + kLanes <= depth; x += kLanes) {
        sum_columns<Lanes, true, 1>(weights, values, x, kLanes, out);
    }
    if (x < depth) {
        sum_columns<Lanes, false, 1>(weights, values, x, depth - x, out);
    }
}

template <class Lanes, class Rows>
HEADSCOPE_INLINE void attend_to(const float* query, const Rows& keys, const Rows& values, float scale, float* scratch,
                                float* out) {
    const float largest = all_scores<Lanes>(query, keys, scale, scratch);
    softmax_lanes<Lanes>(scratch, sizes_of(keys).count, largest);
    whole_sum<Lanes>(scratch, values, out);
}

}  // namespace

HEADSCOPE_VECTOR_CLONES(void attend(const float* query, const HeadRows& keys, const HeadRows& values, float scale,
                                    float* scratch, float* out),
                        { attend_to<Lanes>(query, keys, values, scale, scratch, out); })

HEADSCOPE_VECTOR_CLONES(void attend(const float* query, const NamedRows& keys, const NamedRows& values, float scale,
                                    float* scratch, float* out),
                        { attend_to<Lanes>(query, keys, values, scale, scratch, out); })

}  // namespace headscope::cpu
