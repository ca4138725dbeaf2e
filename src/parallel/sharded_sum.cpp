#include "parallel/sharded_sum.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "support/check.h"

namespace headscope {
namespace {

// The most subtrees of `range` that are kept beside the one that grows.
std::size_t kept_at_once(const ShardRange& range) {
    std::size_t most = 0;
    for (int end = range.first + 1; end < range.end; ++end) {
        most = std::max(most, subtrees_of({range.first, end}).size());
    }
    return most;
}

std::size_t bytes_of(const Tensor& tensor, std::int64_t elements) {
    return static_cast<std::size_t>(elements) * size_of(tensor.dtype);
}

}  // namespace

ShardedSum::ShardedSum(Backend& backend, const Tensor& gradients, int shards, Communicator& ranks)
    : backend_(backend),
      ranks_(ranks),
      gradients_(gradients),
      shards_(shards),
      mine_(shards_of(ranks.rank(), ranks.size(), shards)) {
    HEADSCOPE_CHECK(gradients.elements() % Adam::kGroup == 0, "a flat buffer consists of groups");
    for (std::size_t i = kept_at_once(mine_); i > 0; --i) {
        spares_.push_back(backend.empty(gradients.shape, gradients.dtype));
    }
}

std::string ShardedSum::connect() {
    const Connected connected = connect_devices(backend_, ranks_);
    collectives_ = connected.collectives;
    return connected.said;
}

FlatRange ShardedSum::range(int number) const {
    const std::int64_t groups = gradients_.elements() / Adam::kGroup;
    const std::int64_t begin = groups * number / kRanges * Adam::kGroup;
    return {begin, groups * (number + 1) / kRanges * Adam::kGroup - begin};
}

FlatRange ShardedSum::slice_of(int rank) const {
    const ShardRange ranges = ranges_of(rank);
    const std::int64_t begin = range(ranges.first).begin;
    const FlatRange last = range(ranges.end - 1);
    return {begin, last.begin + last.elements - begin};
}

void ShardedSum::begin() {
    nodes_.clear();
}

void ShardedSum::join(std::vector<Node>& nodes) const {
    while (nodes.size() > 1 && nodes[nodes.size() - 2].tree.joins(nodes.back().tree)) {
        Node right = std::move(nodes.back());
        nodes.pop_back();
        Node& left = nodes.back();
        backend_.run(AddScaled{.a = left.sum, .b = right.sum, .out = right.sum});
        left = {left.tree.parent(), right.sum};
    }
}

void ShardedSum::add(int shard) {
    nodes_.push_back({{shard, 1}, gradients_});
    join(nodes_);
    if (shard + 1 < mine_.end) {
        nodes_.back().sum = spares_[nodes_.size() - 1];
        backend_.run(Copy{.x = gradients_, .out = nodes_.back().sum});
    }
}

std::vector<std::byte> ShardedSum::download(const Tensor& tensor) const {
    std::vector<std::byte> bytes(bytes_of(tensor, tensor.elements()));
    backend_.download(tensor, bytes.data(), bytes.size());
    return bytes;
}

// The ranks meet when their devices are done, since NCCL could not name one that hangs. A rank reports a failure before
// it ends, because its end makes the devices of others fail, too.
void ShardedSum::exchange(std::span<const Collectives::Part> sends, std::span<const Collectives::Part> receives) {
    backend_.synchronize();
    ranks_.meet();
    const auto start = std::chrono::steady_clock::now();
    try {
        collectives_->exchange(sends, receives, [&] {
            ranks_.check();
            const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
            if (waited > ranks_.patience()) {
                throw Error(
                    fmt::format("{} has not exchanged the gradients in {:.0f} s, though all ranks began: a rank, a GPU "
                                "or the way between them hangs. A longer exchange needs a longer --rank-timeout; "
                                "HEADSCOPE_CUDA_NCCL=0 goes without NCCL",
                                collectives_->name(), waited.count()));
            }
        });
    } catch (const OtherRankFailed&) {
        throw;
    } catch (const Error& error) {
        ranks_.fail(error.what());
        throw;
    }
}

void ShardedSum::receive_from_devices(const std::vector<std::vector<Subtree>>& trees,
                                      std::vector<std::vector<Node>>& nodes) {
    std::vector<Collectives::Part> sends;
    std::vector<Collectives::Part> receives;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        const FlatRange theirs = slice_of(rank);
        for (const Node& node : nodes_) {
            if (rank == ranks_.rank()) {
                nodes[at].push_back({node.tree, node.sum.narrow(0, theirs.begin, theirs.elements)});
            } else {
                sends.push_back({rank, node.sum.narrow(0, theirs.begin, theirs.elements)});
            }
        }
        for (const Subtree& tree : trees[at]) {
            if (rank != ranks_.rank()) {
                nodes[at].push_back({tree, backend_.empty({slice().elements}, gradients_.dtype)});
                receives.push_back({rank, nodes[at].back().sum});
            }
        }
    }
    exchange(sends, receives);
}

void ShardedSum::receive_from_hosts(const std::vector<std::vector<Subtree>>& trees,
                                    std::vector<std::vector<Node>>& nodes) {
    const auto size = static_cast<std::size_t>(ranks_.size());
    const FlatRange slice = this->slice();
    std::size_t rounds = 0;
    for (const std::vector<Subtree>& of_rank : trees) {
        rounds = std::max(rounds, of_rank.size());
    }
    std::vector<std::vector<std::byte>> got(size);
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::vector<std::byte> mine =
            round < nodes_.size() ? download(nodes_[round].sum) : std::vector<std::byte>();
        std::vector<std::span<const std::byte>> out(size);
        std::vector<std::span<std::byte>> in(size);
        for (std::size_t rank = 0; rank < size; ++rank) {
            const bool self = static_cast<int>(rank) == ranks_.rank();
            const FlatRange theirs = slice_of(static_cast<int>(rank));
            if (!self && !mine.empty()) {
                out[rank] =
                    std::span(mine).subspan(bytes_of(gradients_, theirs.begin), bytes_of(gradients_, theirs.elements));
            }
            got[rank].resize(!self && round < trees[rank].size() ? bytes_of(gradients_, slice.elements) : 0);
            in[rank] = got[rank];
        }
        ranks_.exchange(out, in);
        for (std::size_t rank = 0; rank < size; ++rank) {
            if (static_cast<int>(rank) == ranks_.rank() && round < nodes_.size()) {
                nodes[rank].push_back({nodes_[round].tree, nodes_[round].sum.narrow(0, slice.begin, slice.elements)});
            } else if (round < trees[rank].size()) {
                const Tensor sum = backend_.empty({slice.elements}, gradients_.dtype);
                backend_.upload(sum, got[rank].data(), got[rank].size());
                nodes[rank].push_back({trees[rank][round], sum});
            }
        }
    }
}

void ShardedSum::reduce() {
    if (ranks_.size() == 1) {
        return;
    }
    const auto size = static_cast<std::size_t>(ranks_.size());
    const FlatRange slice = this->slice();
    std::vector<std::vector<Subtree>> trees(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        trees[rank] = subtrees_of(shards_of(static_cast<int>(rank), ranks_.size(), shards_));
    }
    std::vector<std::vector<Node>> nodes(size);  // of the slice, by rank
    if (collectives_ != nullptr) {
        receive_from_devices(trees, nodes);
    } else {
        receive_from_hosts(trees, nodes);
    }
    std::vector<Node> whole;
    for (std::vector<Node>& of_rank : nodes) {
        for (Node& node : of_rank) {
            whole.push_back(std::move(node));
            join(whole);
        }
    }
    HEADSCOPE_CHECK(whole.size() == 1 && whole.front().tree.count == shards_, "the shards make one tree");
    const Tensor result = gradients_.narrow(0, slice.begin, slice.elements);
    if (whole.front().sum.buffer != result.buffer) {
        backend_.run(Copy{.x = whole.front().sum, .out = result});
    }
}

void ShardedSum::share(const Tensor& flat) {
    if (ranks_.size() == 1) {
        return;
    }
    const auto size = static_cast<std::size_t>(ranks_.size());
    const FlatRange own = slice();
    if (collectives_ != nullptr) {
        std::vector<Collectives::Part> sends;
        std::vector<Collectives::Part> receives;
        for (int rank = 0; rank < ranks_.size(); ++rank) {
            if (const FlatRange theirs = slice_of(rank); rank != ranks_.rank()) {
                sends.push_back({rank, flat.narrow(0, own.begin, own.elements)});
                receives.push_back({rank, flat.narrow(0, theirs.begin, theirs.elements)});
            }
        }
        exchange(sends, receives);
        return;
    }
    const std::vector<std::byte> mine = download(flat.narrow(0, own.begin, own.elements));
    std::vector<std::vector<std::byte>> got(size);
    std::vector<std::span<const std::byte>> out(size);
    std::vector<std::span<std::byte>> in(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        const bool self = static_cast<int>(rank) == ranks_.rank();
        got[rank].resize(self ? 0 : bytes_of(flat, slice_of(static_cast<int>(rank)).elements));
        in[rank] = got[rank];
        out[rank] = self ? std::span<const std::byte>() : std::span<const std::byte>(mine);
    }
    ranks_.exchange(out, in);
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (!got[rank].empty()) {
            const FlatRange theirs = slice_of(static_cast<int>(rank));
            backend_.upload(flat.narrow(0, theirs.begin, theirs.elements), got[rank].data(), got[rank].size());
        }
    }
}

std::vector<std::byte> ShardedSum::collect(const Tensor& slice) {
    const std::vector<std::byte> mine = download(slice);
    const auto size = static_cast<std::size_t>(ranks_.size());
    std::vector<std::byte> whole(ranks_.leads() ? bytes_of(slice, gradients_.elements()) : 0);
    std::vector<std::span<const std::byte>> out(size);
    std::vector<std::span<std::byte>> in(size);
    out.front() = mine;
    for (std::size_t rank = 0; rank < size && ranks_.leads(); ++rank) {
        const FlatRange theirs = slice_of(static_cast<int>(rank));
        in[rank] = std::span(whole).subspan(bytes_of(slice, theirs.begin), bytes_of(slice, theirs.elements));
    }
    ranks_.exchange(out, in);
    return whole;
}

}  // namespace headscope
