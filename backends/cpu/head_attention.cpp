// Keys are in the lanes of a vector, so that scores need no sum across lanes. Sums run over columns and keys in order,
// like those of a product.
#include "backends/cpu/head_attention.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/clones.h"
#include "backends/cpu/lanes.h"
#include "backends/cpu/row_panels.h"
#include "backends/cpu/softmax_lanes.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kQueries = 4;  // at a time

struct HeadPart {
    const HeadRows& queries;
    const HeadRows& values;
    const float* panels;
    const Keys* seen;     // of each query
    std::int64_t stride;  // of a query's weights
    float scale;
    float* weights;
    float* out;
    std::int64_t out_step;
};

// The scores of keys [16 panel, 16 panel + 16), minus infinity where a query does not see them.
template <int queries, class Lanes>
HEADSCOPE_INLINE void score(const HeadPart& p, std::int64_t first, std::int64_t panel, Lanes (&largest)[queries]) {
    const std::int64_t depth = p.queries.depth;
    const float* keys = p.panels + panel * depth * kPanelRows;
    Lanes sums[queries];
    set_zero(sums);
    for (std::int64_t x = 0; x < depth; ++x) {
        Lanes column;
        column.load(keys + x * kPanelRows);
#pragma GCC unroll 4
        for (int i = 0; i < queries; ++i) {
            sums[i].add_product(p.queries.row(first + i)[x], column);
        }
    }
    const std::int64_t first_key = panel * kPanelRows;
#pragma GCC unroll 4
    for (int i = 0; i < queries; ++i) {
        const Keys& own = p.seen[first + i];
        sums[i] *= p.scale;
        sums[i].keep(own.begin - first_key, own.end - first_key, kMinusInfinity);
        largest[i].take_larger(sums[i]);
        sums[i].store(p.weights + i * p.stride + first_key);
    }
}

// Columns [x, x + 16) of the sums of values, or the last `count`.
template <class Lanes, int queries, bool whole>
HEADSCOPE_INLINE void sum_values(const HeadPart& p, std::int64_t first, const Keys& seen, std::int64_t x,
                                 std::int64_t count) {
    Lanes sums[queries];
    set_zero(sums);
    for (std::int64_t key = seen.begin; key < seen.end; ++key) {
        Lanes value;
        value.template load<whole>(p.values.row(key) + x, count);
#pragma GCC unroll 4
        for (int i = 0; i < queries; ++i) {
            sums[i].add_product(p.weights[i * p.stride + key], value);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < queries; ++i) {
        sums[i].template store<whole>(p.out + (first + i) * p.out_step + x, count);
    }
}

// What `queries` queries see together, without a gap, which may hold anything; else false.
template <int queries>
HEADSCOPE_INLINE bool see_together(const HeadPart& p, std::int64_t first, Keys& seen) {
    seen = p.seen[first];
    for (int i = 1; i < queries; ++i) {
        const Keys& own = p.seen[first + i];
        if (own.count() > 0 && seen.count() > 0 && (own.begin > seen.end || own.end < seen.begin)) {
            return false;
        }
        if (own.count() > 0) {
            seen = seen.count() == 0 ? own : Keys{std::min(seen.begin, own.begin), std::max(seen.end, own.end)};
        }
    }
    return true;
}

template <class Lanes, int queries>
HEADSCOPE_INLINE void attend_some(const HeadPart& p, std::int64_t first, const Keys& seen) {
    const std::int64_t begin = seen.begin / kPanelRows;
    const std::int64_t end = panels_of(seen.end);
    Lanes largest[queries];
#pragma GCC unroll 4
    for (Lanes& lanes : largest) {
        lanes.fill(kMinusInfinity);
    }
    for (std::int64_t panel = begin; panel < end; ++panel) {
        score<queries>(p, first, panel, largest);
    }
#pragma GCC unroll 4
    for (int i = 0; i < queries; ++i) {
        float* weights = p.weights + i * p.stride + begin * kPanelRows;
        if (p.seen[first + i].count() == 0) {
            std::memset(weights, 0, static_cast<std::size_t>((end - begin) * kPanelRows) * sizeof(float));
        } else {
            softmax_lanes<Lanes>(weights, (end - begin) * kPanelRows, largest_lane(largest[i]));
        }
    }
    std::int64_t x = 0;
    for (; x + kLanes <= p.values.depth; x += kLanes) {
        sum_values<Lanes, queries, true>(p, first, seen, x, kLanes);
    }
    if (x < p.values.depth) {
        sum_values<Lanes, queries, false>(p, first, seen, x, p.values.depth - x);
    }
}

template <class Lanes>
HEADSCOPE_INLINE void attend_in_parts(const HeadPart& p) {
    for (std::int64_t query = 0; query < p.queries.count;) {
        Keys seen;
        if (query + kQueries <= p.queries.count && see_together<kQueries>(p, query, seen)) {
            attend_some<Lanes, kQueries>(p, query, seen);
            query += kQueries;
        } else {
            attend_some<Lanes, 1>(p, query, p.seen[query]);
            ++query;
        }
    }
}

HEADSCOPE_VECTOR_CLONES(void attend_all(const HeadPart& p), { attend_in_parts<Lanes>(p); })

}  // namespace

void HeadAttention::run(const HeadRows& queries, const HeadRows& keys, const HeadRows& values,
                        const AllowedKeys& allowed, std::int64_t batch, float scale, float* out,
                        std::int64_t out_step) {
    seen_.clear();
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < queries.count; ++i) {
        seen_.push_back(allowed(batch, i));
        last = std::max(last, seen_.back().end);
    }
    const std::int64_t stride = panels_of(keys.count) * kPanelRows;
    panels_.resize(static_cast<std::size_t>(stride * keys.depth));
    weights_.resize(static_cast<std::size_t>(kQueries * stride));
    pack_row_panels(keys.data, keys.step, last, keys.depth, panels_.data());
    attend_all({.queries = queries,
                .values = values,
                .panels = panels_.data(),
                .seen = seen_.data(),
                .stride = stride,
                .scale = scale,
                .weights = weights_.data(),
                .out = out,
                .out_step = out_step});
}

}  // namespace headscope::cpu
