#include "data/pair_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/corruption.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

constexpr std::uint64_t kPieces = 0x50696563;
constexpr std::uint64_t kMasks = 0x4d61736b;

std::vector<WeightedCorpus> one_corpus(const std::vector<Example>& pairs) {
    WeightedCorpus corpus{.pairs = PairStore("", std::numeric_limits<std::size_t>::max())};
    for (const Example& pair : pairs) {
        corpus.pairs.add(pair);
    }
    std::vector<WeightedCorpus> corpora;
    corpora.push_back(std::move(corpus));
    return corpora;
}

}  // namespace

PairSource::PairSource(const std::vector<Example>& pairs, const Frame& frame)
    : PairSource(one_corpus(pairs), {.frame = frame}, 0) {}

PairSource::PairSource(std::vector<WeightedCorpus> corpora, const ExampleOptions& options, std::uint64_t seed,
                       std::shared_ptr<const PieceDropout> source, std::shared_ptr<const PieceDropout> target)
    : corpora_(std::move(corpora)),
      options_(options),
      seed_(seed),
      source_dropout_(std::move(source)),
      target_dropout_(std::move(target)) {
    HEADSCOPE_CHECK(options.joined_share >= 0.0 && options.joined_share <= 1.0, "joined_share must be between 0 and 1");
    HEADSCOPE_CHECK(options.joined_most >= 2, "joined_most must be at least 2");
    for (const WeightedCorpus& corpus : corpora_) {
        HEADSCOPE_CHECK(corpus.weight > 0.0, "the weight of a corpus must be positive");
        firsts_.push_back(total_);
        total_ += corpus.pairs.size();
    }
    if (total_ == 0) {
        throw Error("there are no sentence pairs to train on: check the training files and the maximum length");
    }
    if (total_ > std::numeric_limits<std::uint32_t>::max() / 4) {
        throw Error("more than a billion sentence pairs are not supported: train on a part");
    }
}

SideCounts PairSource::stored_tokens() const {
    SideCounts sum;
    for (const WeightedCorpus& corpus : corpora_) {
        sum.source += corpus.pairs.source_tokens();
        sum.target += corpus.pairs.target_tokens();
    }
    return sum;
}

SideCounts PairSource::tokens(const Epoch& epoch) const {
    const double share = static_cast<double>(epoch.items.size()) / static_cast<double>(total_);
    const auto framed = [&](std::int64_t pieces, std::int64_t around) {
        return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(pieces))) +
               around * static_cast<std::int64_t>(epoch.examples());
    };
    const SideCounts stored = stored_tokens();
    const std::optional<PatchGrid>& patches = options_.frame.patches;
    return {patches ? patches->positions() * static_cast<std::int64_t>(epoch.examples())
                    : framed(stored.source, options_.frame.around_source()),
            framed(stored.target, options_.frame.around_target())};
}

SideCounts PairSource::longest() const {
    SideCounts most;
    for (const WeightedCorpus& corpus : corpora_) {
        for (std::size_t i = 0; i < corpus.pairs.size(); ++i) {
            most.source = std::max(most.source, options_.frame.source_positions(corpus.pairs.source_length(i)));
            most.target = std::max(most.target, corpus.pairs.target_length(i) + options_.frame.around_target());
        }
    }
    return most;
}

std::int64_t PairSource::predicted_tokens() const {
    // Of n pieces and no end, 1 to n are masked.
    return (stored_tokens().target + static_cast<std::int64_t>(total_)) / (options_.frame.mask >= 0 ? 2 : 1);
}

std::uint64_t PairSource::fingerprint() const {
    std::uint64_t sum = 0;
    for (const WeightedCorpus& corpus : corpora_) {
        sum = mix_bits(sum ^ corpus.pairs.size()) ^ corpus.pairs.fingerprint();
    }
    return sum;
}

std::pair<std::size_t, std::size_t> PairSource::place(std::uint32_t pair) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::size_t{pair});
    const auto corpus = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    return {corpus, pair - firsts_[corpus]};
}

Epoch PairSource::epoch(std::int64_t number) const {
    HEADSCOPE_CHECK(number >= 0, "epochs count from 0");
    Epoch epoch;
    epoch.number = number;
    epoch.starts = {0};
    for (std::size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
        for (Pass& pass : passes_over(corpora_[corpus].pairs.size(), corpora_[corpus].weight, seed_, number, corpus)) {
            add_pass(epoch, corpus, pass);
        }
    }
    if (epoch.items.empty()) {  // the weights were so small that no pair was sampled
        add_pass(epoch, 0, passes_over(corpora_[0].pairs.size(), 1.0, seed_, number, 0)[0]);
    }
    return epoch;
}

// Adds the pairs of the pass by themselves or joined to their neighbours.
void PairSource::add_pass(Epoch& epoch, std::size_t number, Pass& pass) const {
    const WeightedCorpus& corpus = corpora_[number];
    std::vector<std::uint32_t>& order = pass.items;
    Random& random = pass.random;
    if (corpus.shuffled && options_.joined_share > 0.0) {
        random.shuffle(order);
    }
    // Joins runs of 2 to `joined_most` pairs, (2 + most) / 2 on average. A run starts with a probability such that
    // `joined_share` of all pairs are in runs.
    const double joined = options_.joined_share;
    const double mean = (2.0 + static_cast<double>(options_.joined_most)) / 2.0;
    const double begins = joined / (mean * (1.0 - joined) + joined);
    const auto choices = static_cast<std::uint64_t>(options_.joined_most - 1);
    for (std::size_t at = 0; at < order.size();) {
        const bool joins = joined > 0.0 && random.uniform() < begins;
        const std::uint64_t wanted = joins ? 2 + random.below(choices) : 1;
        std::int64_t source = 0;
        std::int64_t target = 0;
        for (std::uint64_t taken = 0; taken < wanted && at < order.size(); ++taken, ++at) {
            source += corpus.pairs.source_length(order[at]);
            target += corpus.pairs.target_length(order[at]);
            if (taken > 0 && std::max(source, target) > options_.max_pieces) {
                break;
            }
            epoch.items.push_back(static_cast<std::uint32_t>(firsts_[number] + order[at]));
        }
        epoch.starts.push_back(static_cast<std::uint32_t>(epoch.items.size()));
    }
}

Example PairSource::stored(std::uint32_t pair) const {
    const auto [corpus, number] = place(pair);
    return corpora_[corpus].pairs.pair(number);
}

Example PairSource::example(const Epoch& epoch, std::uint32_t number) const {
    Example whole;
    for (std::uint32_t at = epoch.starts.at(number); at < epoch.starts.at(number + 1); ++at) {
        const Example next = stored(epoch.items[at]);
        whole.source.insert(whole.source.end(), next.source.begin(), next.source.end());
        whole.target.insert(whole.target.end(), next.target.begin(), next.target.end());
    }
    Random random(seed_, stream_of(epoch.number, kPieces, number));
    const auto resample = [&](const std::shared_ptr<const PieceDropout>& dropout, std::vector<std::int32_t>& ids) {
        if (dropout) {
            std::vector<std::int32_t> sampled = dropout->sample(ids, random);
            if (static_cast<std::int64_t>(sampled.size()) <= options_.max_pieces) {
                ids = std::move(sampled);
            }
        }
    };
    resample(source_dropout_, whole.source);
    resample(target_dropout_, whole.target);
    whole.source_begin = corpora_[place(epoch.items.at(epoch.starts.at(number))).first].source_begin;
    if (options_.frame.mask >= 0) {
        mask_some(whole, options_.frame.mask, Random(seed_, stream_of(epoch.number, kMasks, number)));
    }
    return whole;
}

}  // namespace headscope
