// The examples of an epoch: pairs repeated by the weight of their corpus, some joined to their neighbours, optionally
// split into newly sampled pieces.
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
    double weight = 1.0;    // how often an epoch contains each pair; 1.5: each once and half of them twice
    bool shuffled = false;  // the file's order is meaningless: join random pairs, different ones in every epoch
};

struct ExampleOptions {
    // The share of the pairs that are joined to neighbours, and the most pairs per example. A model trained on single
    // sentences would translate only one sentence of several.
    double joined_share = 0.0;
    std::int64_t joined_most = 8;
    std::int64_t max_pieces = 1 << 15;  // per side, without eos: limits joining and sampling
};

// One epoch: an example is a run of pairs, which are numbered over all corpora.
struct Epoch {
    std::int64_t number = 0;
    std::vector<std::uint32_t> pairs;
    std::vector<std::uint32_t> starts;  // example i is pairs [starts[i], starts[i + 1]); one entry more than examples
    std::size_t examples() const { return starts.size() - 1; }
};

class ExampleSource {
public:
    // `source` and `target`: BPE-dropout, or std::nullopt to keep the stored pieces. Error if there are no pairs, or if
    // a weight leaves none.
    ExampleSource(std::vector<WeightedCorpus> corpora, const ExampleOptions& options, std::uint64_t seed,
                  std::optional<BpeDropout> source = {}, std::optional<BpeDropout> target = {});
    // Pairs in memory, each once an epoch.
    explicit ExampleSource(const std::vector<Pair>& pairs);

    std::size_t pairs() const { return total_; }
    std::int64_t source_tokens() const;  // of all pairs once, without eos
    std::int64_t target_tokens() const;
    // The tokens that an epoch predicts: the target tokens and each pair's eos.
    std::int64_t predicted_tokens() const { return target_tokens() + static_cast<std::int64_t>(pairs()); }
    // The longest sides of all pairs, without eos: {source, target}.
    std::pair<std::int64_t, std::int64_t> longest() const;
    std::uint64_t fingerprint() const;

    // Depends only on the seed and the number.
    Epoch epoch(std::int64_t number) const;
    // These examples of an epoch, in order. They depend only on seed, epoch and example.
    std::vector<Pair> fetch(const Epoch& epoch, std::span<const std::uint32_t> examples) const;

private:
    void add_pass(Epoch& epoch, std::size_t corpus, std::uint64_t pass, double share) const;
    Pair stored(std::uint32_t pair) const;
    Pair example(const Epoch& epoch, std::uint32_t number) const;
    std::pair<std::size_t, std::size_t> place(std::uint32_t pair) const;  // corpus, number there

    std::vector<WeightedCorpus> corpora_;
    std::vector<std::size_t> firsts_;  // number of the first pair of each corpus
    std::size_t total_ = 0;
    ExampleOptions options_;
    std::uint64_t seed_ = 0;
    std::optional<BpeDropout> source_dropout_, target_dropout_;
};

}  // namespace headscope
