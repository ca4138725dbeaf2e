#include "data/pair_source.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "support/check.h"
#include "support/random.h"
#include "tests/io/temporary_folder.h"
#include "text/bpe_dropout.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

// Example i consists of the id 10 + i, repeated `length` times.
PairStore store(std::size_t count, std::size_t length = 3) {
    PairStore pairs("");
    for (std::size_t i = 0; i < count; ++i) {
        const auto id = static_cast<std::int32_t>(10 + i);
        pairs.add({std::vector<std::int32_t>(length, id), std::vector<std::int32_t>(length + 1, id)});
    }
    return pairs;
}

PairSource source_of(std::size_t count, double weight, const ExampleOptions& options, bool shuffled = false) {
    std::vector<WeightedCorpus> corpora;
    corpora.push_back({.pairs = store(count), .weight = weight, .shuffled = shuffled});
    return {std::move(corpora), options, 5};
}

std::map<std::uint32_t, int> times_shown(const Epoch& epoch) {
    std::map<std::uint32_t, int> times;
    for (const std::uint32_t pair : epoch.items) {
        ++times[pair];
    }
    return times;
}

std::vector<Example> all_of(const PairSource& source, const Epoch& epoch) {
    std::vector<std::uint32_t> every(epoch.examples());
    for (std::uint32_t i = 0; i < every.size(); ++i) {
        every[i] = i;
    }
    return source.fetch(epoch, every);
}

}  // namespace

TEST_CASE("pairs are read back as stored, from memory and from disk", "[pair_store]") {
    const TemporaryFolder folder;
    const std::size_t in_memory = GENERATE(std::size_t{1} << 20U, 1000, 0);
    PairStore pairs(folder.file(""), in_memory);
    Random random(3);
    std::vector<Example> expected;
    for (int i = 0; i < 3000; ++i) {
        Example pair;
        for (auto* side : {&pair.source, &pair.target}) {
            for (std::uint64_t n = random.below(9); n-- > 0;) {
                side->push_back(static_cast<std::int32_t>(random.below(1U << (1 + random.below(31)))));
            }
        }
        pairs.add(pair);
        expected.push_back(pair);
    }
    REQUIRE(pairs.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Example got = pairs.pair(i);
        REQUIRE(got.source == expected[i].source);
        REQUIRE(got.target == expected[i].target);
        REQUIRE(pairs.source_length(i) == static_cast<std::int64_t>(expected[i].source.size()));
        REQUIRE(pairs.target_length(i) == static_cast<std::int64_t>(expected[i].target.size()));
    }
    CHECK(std::filesystem::is_empty(folder.file("")));  // the file is unlinked
}

TEST_CASE("a pair store refuses what it would not give back", "[pair_store]") {
    PairStore pairs("");
    CHECK_THROWS_AS(pairs.add({.source = {5}, .target = {6}, .weights = {1.0F, 2.0F}}), CheckFailure);
    CHECK_THROWS_AS(pairs.add({.target = {6}, .labels = {7}}), CheckFailure);
    CHECK_THROWS_AS(pairs.add({.target = {6}, .starts = {0}}), CheckFailure);
    CHECK_THROWS_AS(pairs.add({.target = {6}, .types = {1}}), CheckFailure);
    CHECK_THROWS_AS(pairs.add({.source = {5}, .target = {6}, .source_begin = {3}}), CheckFailure);
    CHECK(pairs.size() == 0);
    pairs.add({.source = {5}, .target = {6}});
    CHECK(pairs.size() == 1);
}

TEST_CASE("other data has another fingerprint", "[pair_store]") {
    const auto of = [](const std::vector<Example>& pairs) { return PairSource(pairs).fingerprint(); };
    const auto one = of({{{1, 2}, {3}}, {{4}, {5}}});
    CHECK(one == of({{{1, 2}, {3}}, {{4}, {5}}}));
    CHECK(one != of({{{4}, {5}}, {{1, 2}, {3}}}));
    CHECK(one != of({{{1}, {2, 3}}, {{4}, {5}}}));
    CHECK(one != of({{{1, 2}, {3}}}));
}

TEST_CASE("a weight determines how often an epoch contains a pair", "[examples]") {
    const PairSource twice = source_of(50, 2.0, {});
    for (const auto& [pair, times] : times_shown(twice.epoch(0))) {
        CHECK(times == 2);
    }
    CHECK(times_shown(twice.epoch(0)).size() == 50);

    const PairSource some = source_of(4000, 1.25, {});
    const auto first = times_shown(some.epoch(0));
    std::size_t more = 0;
    for (const auto& [pair, times] : first) {
        CHECK((times == 1 || times == 2));
        more += times == 2 ? 1 : 0;
    }
    CHECK(first.size() == 4000);
    CHECK(more > 900);
    CHECK(more < 1100);
    CHECK(first != times_shown(some.epoch(1)));  // other pairs
    CHECK(first == times_shown(some.epoch(0)));

    CHECK(source_of(3, 0.001, {}).epoch(0).examples() > 0);  // an epoch is never empty
}

TEST_CASE("joined examples are neighbours, in order, within the maximum length", "[examples]") {
    const ExampleOptions options{.joined_share = 0.4, .joined_most = 5, .max_pieces = 15};
    const PairSource source = source_of(5000, 1.0, options);
    const Epoch epoch = source.epoch(3);
    std::size_t joined = 0;
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < epoch.examples(); ++i) {
        const std::uint32_t count = epoch.starts[i + 1] - epoch.starts[i];
        REQUIRE(count >= 1);
        CHECK(count <= 3);  // four targets of 4 pieces would be 16
        joined += count > 1 ? count : 0;
        for (std::uint32_t at = epoch.starts[i]; at < epoch.starts[i + 1]; ++at) {
            REQUIRE(epoch.items[at] == expected++);
        }
    }
    CHECK(expected == 5000);
    CHECK(joined > 5000 * 3 / 10);  // the maximum length limits runs of 4 and 5
    CHECK(joined < 5000 * 5 / 10);
    const std::vector<Example> examples = all_of(source, epoch);
    for (std::size_t i = 0; i < examples.size(); ++i) {
        const std::uint32_t count = epoch.starts[i + 1] - epoch.starts[i];
        REQUIRE(examples[i].source.size() == std::size_t{3} * count);
        REQUIRE(examples[i].target.size() == std::size_t{4} * count);
        CHECK(examples[i].source.front() == static_cast<std::int32_t>(10 + epoch.items[epoch.starts[i]]));
        CHECK(examples[i].target.back() == static_cast<std::int32_t>(10 + epoch.items[epoch.starts[i + 1] - 1]));
    }
}

TEST_CASE("the share of joined pairs is as requested", "[examples]") {
    const double share = GENERATE(0.1, 0.5, 1.0);
    const Epoch epoch = source_of(20'000, 1.0, {.joined_share = share, .joined_most = 8}).epoch(0);
    std::size_t joined = 0;
    for (std::size_t i = 0; i < epoch.examples(); ++i) {
        const std::uint32_t count = epoch.starts[i + 1] - epoch.starts[i];
        joined += count > 1 ? count : 0;
    }
    CHECK(static_cast<double>(joined) / 20'000.0 == Approx(share).margin(0.03));
}

TEST_CASE("in a shuffled corpus random pairs are joined", "[examples]") {
    const PairSource source = source_of(1000, 1.0, {.joined_share = 1.0, .joined_most = 2}, true);
    const Epoch epoch = source.epoch(0);
    std::size_t adjacent = 0;
    for (std::size_t i = 0; i < epoch.examples(); ++i) {
        if (epoch.starts[i + 1] - epoch.starts[i] == 2) {
            adjacent += epoch.items[epoch.starts[i]] + 1 == epoch.items[epoch.starts[i] + 1] ? 1 : 0;
        }
    }
    CHECK(adjacent < 20);
    CHECK(times_shown(epoch).size() == 1000);
    CHECK(source.epoch(1).items != epoch.items);
}

TEST_CASE("pairs of different corpora are not joined", "[examples]") {
    std::vector<WeightedCorpus> corpora;
    corpora.push_back({.pairs = store(3)});
    corpora.push_back({.pairs = store(2, 5), .weight = 2.0});
    const PairSource source(std::move(corpora), {.joined_share = 1.0}, 1);
    CHECK(source.predicted_tokens() == 3 * 5 + 2 * 7);
    CHECK(source.longest().source == 6);
    CHECK(source.longest().target == 7);
    const Epoch epoch = source.epoch(0);
    CHECK(epoch.items.size() == 3 + 2 * 2);
    // 7 of 5 pairs, whose sources have 3 * 3 + 2 * 5 pieces; estimated, since the longer ones are repeated.
    CHECK(source.tokens(epoch).source == 27 + static_cast<std::int64_t>(epoch.examples()));
    for (const Example& example : all_of(source, epoch)) {
        CHECK((example.source.size() % 3 == 0 || example.source.size() % 5 == 0));
        CHECK(example.target.size() >= example.source.size() + 1);
    }
}

TEST_CASE("a corpus has tokens of its own before its sources, one of joined pairs", "[examples]") {
    std::vector<WeightedCorpus> corpora;
    corpora.push_back({.pairs = store(40), .source_begin = {4}});
    corpora.push_back({.pairs = store(40, 5), .source_begin = {5}});
    const Frame frame{.source_begin = {4}};
    const PairSource source(std::move(corpora), {.joined_share = 0.5, .joined_most = 2, .frame = frame}, 1);
    const Epoch epoch = source.epoch(0);
    bool joined = false;
    for (const Example& example : all_of(source, epoch)) {
        const bool first = example.source.size() % 3 == 0;
        CHECK(example.source_begin == std::vector<std::int32_t>{first ? 4 : 5});
        joined = joined || example.source.size() > 5;
        const Batch batch = make_batch(std::span(&example, 1), frame, 0);
        CHECK(batch.source.ids.at(0) == (first ? 4 : 5));
        CHECK(batch.source.ids.at(1) == example.source.front());
        CHECK(batch.source.lengths.at(0) == std::ssize(example.source) + 2);
    }
    CHECK(joined);
}

TEST_CASE("pieces are sampled again in every epoch, equally on every machine", "[examples]") {
    const std::vector<std::string> lines{"low lower lowest slow slower slowest", "new newer newest wide wider widest"};
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer({.sentences = lines, .type = TokenizerType::Bpe, .vocabulary_size = 40}), "test");
    const auto make = [&](double dropout, std::int64_t most) {
        PairStore pairs("");
        for (int i = 0; i < 40; ++i) {
            pairs.add({tokenizer.encode(lines[0]), tokenizer.encode(lines[1])});
        }
        std::vector<WeightedCorpus> corpora;
        corpora.push_back({.pairs = std::move(pairs)});
        return PairSource(std::move(corpora), {.max_pieces = most}, 1, std::make_shared<BpeDropout>(tokenizer, dropout),
                          std::make_shared<BpeDropout>(tokenizer, dropout));
    };
    const PairSource source = make(0.3, 1000);
    const std::vector<Example> first = all_of(source, source.epoch(0));
    const std::vector<Example> again = all_of(source, source.epoch(0));
    const std::vector<Example> next = all_of(source, source.epoch(1));
    std::size_t unlike = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(first[i].source == again[i].source);
        CHECK(tokenizer.decode(first[i].source) == lines[0]);
        CHECK(tokenizer.decode(next[i].target) == lines[1]);
        unlike += first[i].source != next[i].source ? 1 : 0;
    }
    CHECK(unlike > 30);
    CHECK(first[0].source != first[1].source);
    // Examples that would become too long stay unchanged.
    const auto plain =
        static_cast<std::int64_t>(std::max(tokenizer.encode(lines[0]).size(), tokenizer.encode(lines[1]).size()));
    const PairSource tight = make(0.9, plain);
    for (const Example& pair : all_of(tight, tight.epoch(0))) {
        CHECK(static_cast<std::int64_t>(pair.source.size()) <= plain);
        CHECK(static_cast<std::int64_t>(pair.target.size()) <= plain);
    }
}

TEST_CASE("pieces of a target are masked, from one to all, each as often as the others", "[pair_source]") {
    constexpr std::int32_t kMask = 7;
    ExampleOptions options;
    options.frame.mask = kMask;
    const PairSource source = source_of(3000, 1.0, options);
    const PairSource plain = source_of(3000, 1.0, {});
    CHECK(source.predicted_tokens() == plain.predicted_tokens() / 2);
    const Epoch epoch = source.epoch(0);
    const std::vector<Example> first = all_of(source, epoch);
    const std::vector<Example> whole = all_of(plain, epoch);
    std::map<std::size_t, int> counts;
    std::map<std::size_t, int> places;
    for (std::size_t i = 0; i < first.size(); ++i) {
        REQUIRE(first[i].source == whole[i].source);
        REQUIRE(first[i].labels.size() == 4);
        std::size_t masked = 0;
        for (std::size_t at = 0; at < 4; ++at) {
            const bool is_masked = first[i].target[at] == kMask;
            REQUIRE(first[i].labels[at] == (is_masked ? whole[i].target[at] : kNoTarget));
            REQUIRE((is_masked || first[i].target[at] == whole[i].target[at]));
            masked += is_masked ? 1 : 0;
            places[at] += is_masked ? 1 : 0;
        }
        ++counts[masked];
    }
    // 3000 / 4 of each number, 3000 * 2.5 / 4 at each place; standard deviations 24 and 26.
    CHECK(counts.size() == 4);
    for (const auto& [number, times] : counts) {
        INFO(number << " masks: " << times);
        CHECK(std::abs(times - 750) < 100);
    }
    for (const auto& [place, times] : places) {
        INFO("place " << place << ": " << times);
        CHECK(std::abs(times - 1875) < 105);
    }
    const auto targets = [](const std::vector<Example>& pairs) {
        std::vector<std::vector<std::int32_t>> ids;
        for (const Example& pair : pairs) {
            ids.push_back(pair.target);
        }
        return ids;
    };
    CHECK(targets(all_of(source, epoch)) == targets(first));
    CHECK(targets(all_of(source, source.epoch(1))) != targets(first));
}

TEST_CASE("a batch with masks has sources, and says where they end", "[pair_source]") {
    const Frame frame{.mask = 7};
    const std::vector<Example> pairs{{.source = {4, 5}, .target = {7, 6, 9}, .labels = {8, kNoTarget, kNoTarget}},
                                     {.source = {4, 5, 6, 7, 8, 9, 4, 5}, .target = {7}, .labels = {9}}};
    const Batch batch = make_batch(pairs, frame, 0);
    CHECK(batch.source.length == 16);
    CHECK(batch.source.lengths == std::vector<std::int32_t>{3, 9});
    CHECK(batch.source_ends.rows == std::vector<std::int32_t>{2, 16 + 8});
    CHECK(batch.source_ends.order == std::vector<std::int32_t>{0, 1});
    CHECK(batch.target.lengths == std::vector<std::int32_t>{3, 1});
    CHECK(batch.target.ids[1] == 6);
    CHECK(batch.predicted.count == 2);
}
