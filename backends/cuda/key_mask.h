// An AttentionMask as kernels read it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backend/attention_mask.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"

namespace headscope::cuda {

// The keys [begin, end); both are 0 if there are none.
struct Keys {
    int begin = 0;
    int end = 0;
    __device__ int count() const { return end - begin; }
    __device__ bool has(int key) const { return begin <= key && key < end; }
    __device__ bool overlaps(int from, int to) const { return begin < to && end > from; }
};

// The queries [begin, end).
struct Queries {
    int begin = 0;
    int end = 0;
};

// The mask of one sentence.
struct SentenceMask {
    std::int64_t length;         // of the keys
    std::int64_t offset;         // of the queries
    const std::int32_t* ranges;  // [queries, 2], or null
    int queries;
    int window;  // 0: none
    bool causal;

    // From the first to the last key that one of the queries [first, last] may see, whatever the ranges.
    __device__ Keys between(std::int64_t first, std::int64_t last) const {
        std::int64_t begin = window > 0 ? offset + first - window + 1 : 0;
        std::int64_t end = window > 0 ? offset + last + window : length;
        end = causal && offset + last + 1 < end ? offset + last + 1 : end;
        begin = begin > 0 ? begin : 0;
        end = end < length ? end : length;
        return begin < end ? Keys{static_cast<int>(begin), static_cast<int>(end)} : Keys{};
    }

    // What a query may see.
    __device__ Keys keys_of(std::int64_t query) const {
        Keys keys = between(query, query);
        if (ranges != nullptr) {
            keys.begin = ranges[2 * query] > keys.begin ? ranges[2 * query] : keys.begin;
            keys.end = ranges[2 * query + 1] < keys.end ? ranges[2 * query + 1] : keys.end;
        }
        return keys.begin < keys.end ? keys : Keys{};
    }

    // From the first to the last key that one of the queries [first, last] may see. All threads of a warp
    // must call it with the same arguments.
    __device__ Keys keys_between(int first, int last) const {
        if (ranges == nullptr) {
            return between(first, last);
        }
        Keys all{1 << 30, 0};
        for (int query = first + static_cast<int>(threadIdx.x) % kWarp; query <= last; query += kWarp) {
            const Keys own = keys_of(query);
            all.begin = own.count() > 0 && own.begin < all.begin ? own.begin : all.begin;
            all.end = own.end > all.end ? own.end : all.end;
        }
        const auto most = [](int a, int b) { return a > b ? a : b; };
        all = {-reduce_warp(-all.begin, most), reduce_warp(all.end, most)};
        return all.begin < all.end ? all : Keys{};
    }

    // From the first query that may see the key `first` to the last that may see `last`, whatever the ranges.
    __device__ Queries queries_between(int first, int last) const {
        std::int64_t begin = first - offset;
        begin = causal ? begin : window > 0 ? begin - window + 1 : 0;
        const std::int64_t behind = window > 0 ? last - offset + window : queries;
        const std::int64_t end = behind < queries ? behind : queries;
        begin = begin > 0 ? begin : 0;
        return first < length && begin < end ? Queries{static_cast<int>(begin), static_cast<int>(end)} : Queries{};
    }

    // Whether some query may see the key.
    __device__ bool shows(int key) const {
        if (ranges == nullptr) {
            return between(0, queries - 1).has(key);  // neighbours' windows leave no gap
        }
        for (int i = 0; i < queries; ++i) {
            // In self-attention the query at the key's own position sees it, so that is the first to look at.
            if (keys_of((key + i) % queries).has(key)) {
                return true;
            }
        }
        return false;
    }
};

struct MaskKernel {
    int queries = 0;
    int keys = 0;
    int window = 0;
    bool causal = false;
    const std::int32_t* key_lengths = nullptr;
    const std::int32_t* query_offset = nullptr;
    const std::int32_t* key_ranges = nullptr;

    __device__ SentenceMask of(std::int64_t batch) const {
        const std::int64_t length = key_lengths == nullptr ? keys : key_lengths[batch];
        return {length < keys ? length : keys,
                query_offset == nullptr ? 0 : *query_offset,
                key_ranges == nullptr ? nullptr : key_ranges + 2 * batch * queries,
                queries,
                window,
                causal};
    }
};

inline MaskKernel mask_kernel(const AttentionMask& mask, std::int64_t queries, std::int64_t keys) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30U;
    HEADSCOPE_CHECK(queries <= kMost && keys <= kMost, "attention over more than 2^30 positions");
    return {static_cast<int>(queries),
            static_cast<int>(keys),
            static_cast<int>(mask.window),
            mask.causal,
            data_of<const std::int32_t>(mask.key_lengths),
            data_of<const std::int32_t>(mask.query_offset),
            data_of<const std::int32_t>(mask.key_ranges)};
}

}  // namespace headscope::cuda
