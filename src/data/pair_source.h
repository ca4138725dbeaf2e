// Examples that are pairs of sentences: repeated by the weight of their corpus, some joined to their neighbours,
// optionally split into newly sampled pieces. If their frame has a mask, pieces of the target are masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/example_source.h"
#include "data/frame.h"
#include "data/pair_store.h"
#include "text/piece_dropout.h"

namespace headscope {

struct WeightedCorpus {
    PairStore pairs;
    double weight = 1.0;    // see passes_over
    bool shuffled = false;  // the file's order is meaningless: join random pairs, different ones in every epoch
    std::vector<std::int32_t> source_begin = {};  // replaces the frame's, and is as long; empty: does not
};

struct ExampleOptions {
    // The share of the pairs that are joined to neighbours, and the most pairs per example. A model trained on single
    // sentences would translate only one sentence of several.
    double joined_share = 0.0;
    std::int64_t joined_most = 8;
    std::int64_t max_pieces = 1 << 15;  // per side, without what stands around: limits joining and sampling
    Frame frame = {};
};

class PairSource final : public ExampleSource {
public:
    // `source` and `target` replace the stored pieces, unless they are null. Error if there are no pairs, or if
    // a weight leaves none.
    PairSource(std::vector<WeightedCorpus> corpora, const ExampleOptions& options, std::uint64_t seed,
               std::shared_ptr<const PieceDropout> source = {}, std::shared_ptr<const PieceDropout> target = {});
    // Pairs in memory, each once an epoch.
    explicit PairSource(const std::vector<Example>& pairs, const Frame& frame = {});

    Epoch epoch(std::int64_t number) const override;
    Example example(const Epoch& epoch, std::uint32_t number) const override;
    SideCounts tokens(const Epoch& epoch) const override;
    SideCounts longest() const override;
    std::int64_t predicted_tokens() const override;
    std::uint64_t fingerprint() const override;

private:
    void add_pass(Epoch& epoch, std::size_t corpus, Pass& pass) const;
    SideCounts stored_tokens() const;  // pieces of all pairs once
    Example stored(std::uint32_t pair) const;
    std::pair<std::size_t, std::size_t> place(std::uint32_t pair) const;  // corpus, number there

    std::vector<WeightedCorpus> corpora_;
    std::vector<std::size_t> firsts_;  // number of the first pair of each corpus
    std::size_t total_ = 0;
    ExampleOptions options_;
    std::uint64_t seed_ = 0;
    std::shared_ptr<const PieceDropout> source_dropout_, target_dropout_;
};

}  // namespace headscope
