// Which keys the queries of attention may see: an interval each, whatever the AttentionMask.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/attention_mask.h"
#include "backends/cpu/memory/view.h"

namespace headscope::cpu {

// The keys [begin, end), within those that there are. Both are 0 if there are none.
struct Keys {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - begin; }
    bool has(std::int64_t key) const { return begin <= key && key < end; }
};

class AllowedKeys {
public:
    AllowedKeys(const AttentionMask& mask, std::int64_t queries, std::int64_t keys)
        : lengths_(data_of<std::int32_t>(mask.key_lengths)),
          causal_(mask.causal),
          offset_(scalar_of(mask.query_offset, 0)),
          ranges_(data_of<std::int32_t>(mask.key_ranges)),
          window_(mask.window),
          queries_(queries),
          keys_(keys) {}

    Keys operator()(std::int64_t batch, std::int64_t query) const {
        Keys keys = between(batch, query, query);
        if (ranges_ != nullptr) {
            const std::int32_t* range = ranges_ + 2 * (batch * queries_ + query);
            keys = {std::max<std::int64_t>(keys.begin, range[0]), std::min<std::int64_t>(keys.end, range[1])};
        }
        return keys.begin < keys.end ? keys : Keys{};
    }

    // From the first to the last key that one of the queries [first, last] may see, whatever the ranges.
    Keys between(std::int64_t batch, std::int64_t first, std::int64_t last) const {
        Keys keys{0, lengths_ == nullptr ? keys_ : std::min<std::int64_t>(lengths_[batch], keys_)};
        keys.end = causal_ ? std::min(keys.end, offset_ + last + 1) : keys.end;
        if (window_ > 0) {
            keys = {std::max<std::int64_t>(0, offset_ + first - window_ + 1),
                    std::min(keys.end, offset_ + last + window_)};
        }
        return keys.begin < keys.end ? keys : Keys{};
    }

    // Whether some query may see the key. In self-attention the query at the key's own position sees it, so that is
    // the first to look at. Without ranges there is no gap between what neighbours see.
    bool are_seen(std::int64_t batch, std::int64_t key) const {
        if (ranges_ == nullptr) {
            return between(batch, 0, queries_ - 1).has(key);
        }
        for (std::int64_t i = 0; i < queries_; ++i) {
            if ((*this)(batch, (key + i) % queries_).has(key)) {
                return true;
            }
        }
        return false;
    }

private:
    const std::int32_t* lengths_;
    bool causal_;
    std::int64_t offset_;
    const std::int32_t* ranges_;
    std::int64_t window_;
    std::int64_t queries_;
    std::int64_t keys_;
};

}  // namespace headscope::cpu
