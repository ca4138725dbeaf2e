// The sum of gradients over all shards of a step, on all ranks, in the order of one tree (parallel/shards.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "parallel/communicator.h"
#include "parallel/connect.h"
#include "parallel/shards.h"

namespace headscope {

// Part of a flat buffer.
struct FlatRange {
    std::int64_t begin = 0, elements = 0;
};

// Each rank adds its own shards, and of the whole sum it gets one slice. The optimizer then works on that slice only,
// and share() spreads what it wrote.
class ShardedSum {
public:
    // A flat buffer is cut into so many ranges, whatever the number of ranks: sums over each have the same bits.
    static constexpr int kRanges = kMostShards;

    // `gradients` [total], a multiple of 16, is where each shard's gradient is computed.
    ShardedSum(Backend& backend, const Tensor& gradients, int shards, Communicator& ranks);

    // The devices send each other their sums by themselves from now on, if they can. Returns which way they go, for the
    // user; "" if there is nothing to say. All ranks call it.
    std::string connect();

    const ShardRange& mine() const { return mine_; }
    FlatRange range(int number) const;
    ShardRange ranges_of(int rank) const { return shards_of(rank, ranks_.size(), kRanges); }
    FlatRange slice_of(int rank) const;
    FlatRange slice() const { return slice_of(ranks_.rank()); }

    void begin();         // a step
    void add(int shard);  // mine() in their order: its gradient is in the buffer, which the next one may overwrite
    // All ranks call it when they have added their shards. Then the buffer holds the sum, within slice() only.
    void reduce();
    // Of a flat buffer in which each rank wrote its slice: the other slices follow. All ranks call it.
    void share(const Tensor& flat);
    // Of buffers [slice().elements] that together are a flat one: its bytes, on rank 0 only. All ranks call it.
    std::vector<std::byte> collect(const Tensor& slice);

private:
    struct Node {
        Subtree tree;
        Tensor sum;
    };
    // Adds the newest node to those before it as far as the tree allows, into its own memory.
    void join(std::vector<Node>& nodes) const;
    // Adds to `nodes`, by rank, what the others send here of their shards: this rank's slice.
    void receive_from_devices(const std::vector<std::vector<Subtree>>& trees, std::vector<std::vector<Node>>& nodes);
    void receive_from_hosts(const std::vector<std::vector<Subtree>>& trees, std::vector<std::vector<Node>>& nodes);
    void exchange(std::span<const Collectives::Part> sends, std::span<const Collectives::Part> receives);
    std::vector<std::byte> download(const Tensor& tensor) const;

    Backend& backend_;
    Communicator& ranks_;
    Collectives* collectives_ = nullptr;  // null: what ranks send goes through the host's memory
    Tensor gradients_;
    int shards_;
    ShardRange mine_;
    std::vector<Node> nodes_;     // what was added, as few subtrees as possible; the newest is in gradients_
    std::vector<Tensor> spares_;  // [total], for the others
};

}  // namespace headscope
