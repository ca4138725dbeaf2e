// What an epoch shows of its corpora: pairs as often as wished, some joined to their neighbours, in other pieces every
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/pair_store.h"
#include "text/bpe_dropout.h"

namespace headscope {

struct WeightedCorpus {
    PairStore pairs;
    double weight = 1.0;    // how often an epoch shows each pair; of 1.5 each once, and another half of them twice
    bool shuffled = false;  // the order of the file means nothing: neighbours are any pairs, others in every epoch
};

struct ExampleOptions {
    // The share of the pairs that are joined to neighbours, and how many at most: a model that has seen one sentence at
    // a time translates one sentence of many.
    double joined_share = 0.0;
    std::int64_t joined_most = 8;
    std::int64_t max_pieces = 1 << 15;  // of a side, eos not counted: no joining and no sampling goes past it
};

// One epoch: examples are runs of pairs, numbered over all corpora.
struct Epoch {
    std::int64_t number = 0;
    std::vector<std::uint32_t> pairs;
    std::vector<std::uint32_t> starts;  // example i is pairs [starts[i], starts[i + 1]); one entry more than examples
    std::size_t examples() const { return starts.size() - 1; }
};

class ExampleSource {
public:
    // Without dropout (`source` and `target` nullopt) pieces are as they were stored. Error when there is no pair at
    // all, or when a weight leaves none.
    ExampleSource(std::vector<WeightedCorpus> corpora, const ExampleOptions& options, std::uint64_t seed,
                  std::optional<BpeDropout> source = {}, std::optional<BpeDropout> target = {});
    // Pairs in memory, each once an epoch.
    explicit ExampleSource(const std::vector<Pair>& pairs);

    std::size_t pairs() const { return total_; }
    std::int64_t source_tokens() const;  // of all pairs once, eos not counted
    std::int64_t target_tokens() const;
    // What an epoch predicts: the target's tokens and each pair's eos.
    std::int64_t predicted_tokens() const { return target_tokens() + static_cast<std::int64_t>(pairs()); }
    // The longest pair of each side alone, eos not counted: {source, target}.
    std::pair<std::int64_t, std::int64_t> longest() const;
    std::uint64_t fingerprint() const;

    // By seed and number alone.
    Epoch epoch(std::int64_t number) const;
    // These examples of an epoch, drawn by seed, epoch and example alone, in their order.
    std::vector<Pair> fetch(const Epoch& epoch, std::span<const std::uint32_t> examples) const;

private:
    void add_pass(Epoch& epoch, std::size_t corpus, std::uint64_t pass, double share) const;
    Pair stored(std::uint32_t pair) const;
    Pair example(const Epoch& epoch, std::uint32_t number) const;
    std::pair<std::size_t, std::size_t> place(std::uint32_t pair) const;  // corpus, number there

    std::vector<WeightedCorpus> corpora_;
    std::vector<std::size_t> firsts_;  // of each corpus: the number of its first pair
    std::size_t total_ = 0;
    ExampleOptions options_;
    std::uint64_t seed_ = 0;
    std::optional<BpeDropout> source_dropout_, target_dropout_;
};

}  // namespace headscope
