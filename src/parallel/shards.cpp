#include "parallel/shards.h"

#include <bit>
#include <numeric>

#include "support/check.h"

namespace headscope {

ShardRange shards_of(int rank, int ranks, int shards) {
    HEADSCOPE_CHECK(ranks <= shards, "each rank has at least one shard");
    return {rank * shards / ranks, (rank + 1) * shards / ranks};
}

std::vector<Subtree> subtrees_of(const ShardRange& range) {
    std::vector<Subtree> found;
    for (int at = range.first; at < range.end;) {
        int count = 1;
        while (at % (2 * count) == 0 && at + 2 * count <= range.end) {
            count *= 2;
        }
        found.push_back({at, count});
        at += count;
    }
    return found;
}

std::vector<std::size_t> cut_evenly(std::span<const std::int64_t> sizes, int count) {
    const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    std::vector<std::size_t> cuts = {0};
    std::int64_t before = 0;  // of the items up to the newest cut
    for (int group = 1; group < count; ++group) {
        std::size_t at = cuts.back();
        // An item belongs to the group in which its middle lies.
        while (at < sizes.size() && (2 * before + sizes[at]) * count < 2 * total * group) {
            before += sizes[at];
            ++at;
        }
        cuts.push_back(at);
    }
    cuts.push_back(sizes.size());
    return cuts;
}

int shards_for(int ranks) {
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks)));
}

}  // namespace headscope
