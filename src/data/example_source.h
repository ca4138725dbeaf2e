// Where the batcher gets its examples, epoch by epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "support/random.h"

namespace headscope {

// One epoch: an example is a run of items, which are pairs of sentences or parts of documents, numbered over all
// corpora.
struct Epoch {
    std::int64_t number = 0;
    std::vector<std::uint32_t> items;
    std::vector<std::uint32_t> starts;   // example i begins in item starts[i]; one entry more than examples
    std::vector<std::uint32_t> offsets;  // and at this position of it; empty: at its first
    std::size_t examples() const { return starts.size() - 1; }
};

// Numbers of tokens or positions on both sides, with special ones. Language models have no source.
struct SideCounts {
    std::int64_t source = 0, target = 0;
};

class ExampleSource {
public:
    ExampleSource() = default;
    ExampleSource(const ExampleSource&) = delete;
    ExampleSource& operator=(const ExampleSource&) = delete;
    virtual ~ExampleSource() = default;

    // Depends only on the seed and the number.
    virtual Epoch epoch(std::int64_t number) const = 0;
    // An example of an epoch. It depends only on seed, epoch and number.
    virtual Example example(const Epoch& epoch, std::uint32_t number) const = 0;
    // These examples, in order, made on several threads.
    std::vector<Example> fetch(const Epoch& epoch, std::span<const std::uint32_t> examples) const;

    virtual SideCounts tokens(const Epoch& epoch) const = 0;  // estimated
    virtual SideCounts longest() const = 0;                   // at least the longest sides of any example
    // The tokens that an epoch predicts.
    virtual std::int64_t predicted_tokens() const = 0;
    virtual std::uint64_t fingerprint() const = 0;
};

// A corpus of examples of one item each.
struct WeightedExamples {
    std::size_t examples = 0;
    double weight = 1.0;  // see passes_over
};
// The epoch of such corpora. If their weights are so small that nothing is sampled, each example once.
Epoch epoch_of(std::span<const WeightedExamples> corpora, std::uint64_t seed, std::int64_t number);

// Random streams of one seed: for each epoch, and in it for the passes of each corpus and for each example.
constexpr std::uint64_t stream_of(std::int64_t epoch, std::uint64_t what, std::uint64_t number) {
    return mix_bits(mix_bits(static_cast<std::uint64_t>(epoch) + 1) ^ what) ^ number;
}

// One pass of an epoch over a corpus.
struct Pass {
    Random random;
    std::vector<std::uint32_t> items;  // of the corpus, in its order
};
// The passes over a corpus of `size` items, each of which an epoch contains `weight` times: 1.5: each once and half of
// them, chosen at random, twice.
std::vector<Pass> passes_over(std::size_t size, double weight, std::uint64_t seed, std::int64_t epoch,
                              std::size_t corpus);

}  // namespace headscope
