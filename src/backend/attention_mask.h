// Which keys a query may look at, an operand of several ops. Paper 3.2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// Which keys a query may look at: key j of sentence b is allowed for query i iff
//   j < key_lengths[b]  (when given)  and  j <= query_offset + i  (when causal)  and
//   |query_offset + i - j| < window  (unless it is 0)  and
//   key_ranges[b, i, 0] <= j < key_ranges[b, i, 1]  (when given).
// So a query sees an interval of keys, or none. A rule, never a matrix of -1e9. Fused kernels skip what lies
// outside a window, so their cost grows with queries * window (section 4, restricted self-attention; as in Longformer,
// Beltagy et al. 2020); a composition computes every pair.
struct AttentionMask {
    static constexpr std::int64_t kWidest = (std::int64_t{1} << 28) - 1;

    Tensor key_lengths = {};
    bool causal = false;
    Tensor query_offset = {};  // absent: 0; the cache length while decoding
    // Any numbers: documents packed into one sentence, a window around each query. Ranges may reach past the keys.
    Tensor key_ranges = {};
    std::int64_t window = 0;  // 0 (all keys) to kWidest

    // The most of these keys that a query may see.
    std::int64_t most(std::int64_t keys) const {
        return window > 0 ? std::min(keys, causal ? window : 2 * window - 1) : keys;
    }
    // Whether the window leaves so few of the keys that products of all of them are not worthwhile.
    bool is_narrow(std::int64_t keys) const { return window > 0 && 4 * most(keys) <= keys; }

    void declare(Declarations& d, Dim queries = "queries") const {
        d.in("mask.key_lengths", key_lengths, {"batch"}).index().optional();
        d.in("mask.query_offset", query_offset, {1}).index().optional();
        d.in("mask.key_ranges", key_ranges, {"batch", queries, 2}).index().optional();
    }
};

}  // namespace headscope
