#include "data/example_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "support/check.h"
#include "support/parallel.h"
#include "support/random.h"

namespace headscope {
namespace {

// Random streams of one seed: for each epoch, and in it for the passes of each corpus and for each example.
std::uint64_t stream_of(std::int64_t epoch, std::uint64_t what, std::uint64_t number) {
    return mix_bits(mix_bits(static_cast<std::uint64_t>(epoch) + 1) ^ what) ^ number;
}
constexpr std::uint64_t kPasses = 0x50617373;
constexpr std::uint64_t kPieces = 0x50696563;

double uniform(Random& random) {
    return std::ldexp(static_cast<double>(random.next() >> 11U), -53);
}

std::vector<WeightedCorpus> one_corpus(const std::vector<Pair>& pairs) {
    WeightedCorpus corpus{.pairs = PairStore("", std::numeric_limits<std::size_t>::max())};
    for (const Pair& pair : pairs) {
        corpus.pairs.add(pair);
    }
    std::vector<WeightedCorpus> corpora;
    corpora.push_back(std::move(corpus));
    return corpora;
}

}  // namespace

ExampleSource::ExampleSource(const std::vector<Pair>& pairs) : ExampleSource(one_corpus(pairs), {}, 0) {}

ExampleSource::ExampleSource(std::vector<WeightedCorpus> corpora, const ExampleOptions& options, std::uint64_t seed,
                             std::optional<BpeDropout> source, std::optional<BpeDropout> target)
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

std::int64_t ExampleSource::source_tokens() const {
    return std::accumulate(corpora_.begin(), corpora_.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& corpus) { return sum + corpus.pairs.source_tokens(); });
}

std::int64_t ExampleSource::target_tokens() const {
    return std::accumulate(corpora_.begin(), corpora_.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& corpus) { return sum + corpus.pairs.target_tokens(); });
}

std::pair<std::int64_t, std::int64_t> ExampleSource::longest() const {
    std::pair<std::int64_t, std::int64_t> most{0, 0};
    for (const WeightedCorpus& corpus : corpora_) {
        for (std::size_t i = 0; i < corpus.pairs.size(); ++i) {
            most.first = std::max(most.first, corpus.pairs.source_length(i));
            most.second = std::max(most.second, corpus.pairs.target_length(i));
        }
    }
    return most;
}

std::uint64_t ExampleSource::fingerprint() const {
    std::uint64_t sum = 0;
    for (const WeightedCorpus& corpus : corpora_) {
        sum = mix_bits(sum ^ corpus.pairs.size()) ^ corpus.pairs.fingerprint();
    }
    return sum;
}

std::pair<std::size_t, std::size_t> ExampleSource::place(std::uint32_t pair) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::size_t{pair});
    const auto corpus = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    return {corpus, pair - firsts_[corpus]};
}

Epoch ExampleSource::epoch(std::int64_t number) const {
    HEADSCOPE_CHECK(number >= 0, "epochs count from 0");
    Epoch epoch;
    epoch.number = number;
    epoch.starts = {0};
    for (std::size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
        const double weight = corpora_[corpus].weight;
        const auto whole = static_cast<std::uint64_t>(weight);
        for (std::uint64_t pass = 0; pass <= whole; ++pass) {
            const double share = pass < whole ? 1.0 : weight - static_cast<double>(whole);
            if (share > 0.0) {
                add_pass(epoch, corpus, pass, share);
            }
        }
    }
    if (epoch.pairs.empty()) {  // the weights were so small that no pair was sampled
        add_pass(epoch, 0, 0, 1.0);
    }
    return epoch;
}

// One pass over a corpus: takes each pair with probability `share`, by itself or joined to its neighbours.
void ExampleSource::add_pass(Epoch& epoch, std::size_t number, std::uint64_t pass, double share) const {
    const WeightedCorpus& corpus = corpora_[number];
    Random random(seed_, stream_of(epoch.number, kPasses, number << 32U | pass));
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < corpus.pairs.size(); ++i) {
        if (share >= 1.0 || uniform(random) < share) {
            order.push_back(static_cast<std::uint32_t>(i));
        }
    }
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
        const bool joins = joined > 0.0 && uniform(random) < begins;
        const std::uint64_t wanted = joins ? 2 + random.below(choices) : 1;
        std::int64_t source = 0;
        std::int64_t target = 0;
        for (std::uint64_t taken = 0; taken < wanted && at < order.size(); ++taken, ++at) {
            source += corpus.pairs.source_length(order[at]);
            target += corpus.pairs.target_length(order[at]);
            if (taken > 0 && std::max(source, target) > options_.max_pieces) {
                break;
            }
            epoch.pairs.push_back(static_cast<std::uint32_t>(firsts_[number] + order[at]));
        }
        epoch.starts.push_back(static_cast<std::uint32_t>(epoch.pairs.size()));
    }
}

Pair ExampleSource::stored(std::uint32_t pair) const {
    const auto [corpus, number] = place(pair);
    return corpora_[corpus].pairs.pair(number);
}

Pair ExampleSource::example(const Epoch& epoch, std::uint32_t number) const {
    Pair whole;
    for (std::uint32_t at = epoch.starts.at(number); at < epoch.starts.at(number + 1); ++at) {
        const Pair next = stored(epoch.pairs[at]);
        whole.source.insert(whole.source.end(), next.source.begin(), next.source.end());
        whole.target.insert(whole.target.end(), next.target.begin(), next.target.end());
    }
    Random random(seed_, stream_of(epoch.number, kPieces, number));
    const auto resample = [&](const std::optional<BpeDropout>& dropout, std::vector<std::int32_t>& ids) {
        if (dropout) {
            std::vector<std::int32_t> sampled = dropout->sample(ids, random);
            if (static_cast<std::int64_t>(sampled.size()) <= options_.max_pieces) {
                ids = std::move(sampled);
            }
        }
    };
    resample(source_dropout_, whole.source);
    resample(target_dropout_, whole.target);
    return whole;
}

std::vector<Pair> ExampleSource::fetch(const Epoch& epoch, std::span<const std::uint32_t> examples) const {
    constexpr std::size_t kLeast = 256;  // fewer are not worth a thread
    std::vector<Pair> pairs(examples.size());
    in_parallel(examples.size(), kLeast, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            pairs[i] = example(epoch, examples[i]);
        }
    });
    return pairs;
}

}  // namespace headscope
