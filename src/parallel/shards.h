// Shards of a step: a fixed number of contiguous groups of its examples, whose gradients are added in a balanced binary
// tree. Neither depends on the number of ranks, so the sum has the same bits for any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope {

constexpr int kMostShards = 64;

struct ShardRange {
    int first = 0, end = 1;

    int count() const { return end - first; }
    bool contains(int shard) const { return shard >= first && shard < end; }
};
// Those of a rank: contiguous, and as equal in number as possible. At least as many shards as ranks.
ShardRange shards_of(int rank, int ranks, int shards);

// The shards [first, first + count): a node of the tree, where `count` is a power of two that divides `first`.
struct Subtree {
    int first = 0, count = 1;

    bool operator==(const Subtree&) const = default;
    // Whether this and `right`, in this order, are the children of one node.
    bool joins(const Subtree& right) const {
        return count == right.count && first + count == right.first && first % (2 * count) == 0;
    }
    Subtree parent() const { return {first, 2 * count}; }
};
// The largest subtrees within a range, in order.
std::vector<Subtree> subtrees_of(const ShardRange& range);

// Where items of these sizes are cut into `count` contiguous groups of nearly equal sizes: count + 1 numbers, the first
// 0 and the last the number of items. Groups may be empty.
std::vector<std::size_t> cut_evenly(std::span<const std::int64_t> sizes, int count);

// The smallest power of two that is at least `ranks`.
int shards_for(int ranks);

}  // namespace headscope
