#include "data/batcher.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "support/random.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Steps = std::vector<std::vector<std::size_t>>;

namespace {

constexpr BatchBudget kBudget{.source_tokens = 400, .target_tokens = 500};

// Sentences of everyday lengths; a target follows its source, now longer, now shorter.
std::vector<Pair> corpus(std::size_t count, std::uint64_t seed = 3) {
    Random random(seed);
    std::vector<Pair> pairs(count);
    for (std::size_t at = 0; at < count; ++at) {
        const std::uint64_t length = 1 + random.below(12) + random.below(12) * random.below(4);
        pairs[at].source.assign(length, static_cast<std::int32_t>(at));
        pairs[at].target.assign(1 + length / 2 + random.below(length + 1), static_cast<std::int32_t>(at));
    }
    return pairs;
}

std::vector<std::size_t> sorted(const Steps& steps) {
    std::vector<std::size_t> all;
    for (const auto& step : steps) {
        all.insert(all.end(), step.begin(), step.end());
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("an epoch holds every pair once, within the budget", "[batcher]") {
    const Batcher batcher(corpus(2000), kBudget, 1, {});
    std::vector<std::size_t> every(2000);
    std::iota(every.begin(), every.end(), std::size_t{0});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        const Steps steps = batcher.plan(epoch);
        CHECK(sorted(steps) == every);
        CHECK(static_cast<std::int64_t>(steps.size()) == batcher.steps_per_epoch());
        for (const auto& step : steps) {
            const Batch batch = batcher.batch(step);
            CHECK(batch.sentences * batch.source_length <= kBudget.source_tokens);
            CHECK(batch.sentences * batch.target_length <= kBudget.target_tokens);
        }
    }
}

TEST_CASE("batches are of similar length", "[batcher]") {
    const BatchBudget budget{.source_tokens = 4000, .target_tokens = 4000};
    const Batcher batcher(corpus(20'000), budget, 1, {});
    std::int64_t area = 0;
    std::int64_t least = 0;  // the area if every sentence were padded by itself
    for (const auto& step : batcher.plan(0)) {
        const Batch batch = batcher.batch(step);
        area += batch.sentences * (batch.source_length + batch.target_length);
    }
    for (const Pair& pair : batcher.pairs()) {
        least += padded_length(static_cast<std::int64_t>(pair.source.size()) + 1) +
                 padded_length(static_cast<std::int64_t>(pair.target.size()) + 1);
    }
    CHECK(static_cast<double>(area) < 1.05 * static_cast<double>(least));
    // And full: no step but a few at jumps in length could take much more.
    CHECK(batcher.steps_per_epoch() < 2 * area / (budget.source_tokens + budget.target_tokens));
}

TEST_CASE("a step that spans two source lengths joins targets of one length", "[batcher]") {
    const auto pair = [](std::size_t source, std::size_t target) {
        return Pair{std::vector<std::int32_t>(source, 5), std::vector<std::int32_t>(target, 5)};
    };
    const std::vector<Pair> pairs{pair(3, 3), pair(3, 3), pair(3, 60), pair(10, 60), pair(10, 3), pair(10, 3)};
    const Batcher batcher(pairs, {.source_tokens = 1000, .target_tokens = 1000, .sentences = 2}, 1, {});
    for (const auto& step : batcher.plan(0)) {
        REQUIRE(step.size() == 2);
        CHECK(pairs[step[0]].target.size() == pairs[step[1]].target.size());
    }
}

TEST_CASE("lengths are padded to the multiple that was asked for", "[batcher]") {
    const std::int64_t multiple = GENERATE(1, 3, 16);
    const BatchBudget budget{.source_tokens = 1000, .target_tokens = 1000, .length_multiple = multiple};
    const Batcher batcher(corpus(1000), budget, 1, {});
    for (const auto& step : batcher.plan(0)) {
        std::vector<Batch> batches = batcher.micro_batches(step, {.source_tokens = 300, .target_tokens = 300});
        batches.push_back(batcher.batch(step));
        for (const Batch& batch : batches) {
            const auto longest = [](const std::vector<std::int32_t>& lengths) {
                return static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
            };
            CHECK(batch.source_length == (longest(batch.source_lengths) + multiple - 1) / multiple * multiple);
            CHECK(batch.target_length == (longest(batch.target_lengths) + multiple - 1) / multiple * multiple);
            CHECK(batch.sentences * batch.source_length <= budget.source_tokens);
            CHECK(batch.sentences * batch.target_length <= budget.target_tokens);
        }
    }
    CHECK_THROWS_AS(Batcher(corpus(3), {.length_multiple = 0}, 1, {}), CheckFailure);
}

TEST_CASE("the longest length bounds the padding, and the area that is counted", "[batcher]") {
    const std::vector<Pair> pairs(6, Pair{std::vector<std::int32_t>(8, 5), std::vector<std::int32_t>(8, 6)});
    const BatchBudget budget{.source_tokens = 30, .target_tokens = 30, .longest = 10};
    const Batcher batcher(pairs, budget, 1, {});
    CHECK(batcher.steps_per_epoch() == 2);  // three of 10 each, where one of 16 would leave no room for a second
    CHECK(batcher.batch(batcher.plan(0).front()).source_length == 10);
}

TEST_CASE("the number of sentences is bounded too", "[batcher]") {
    const Batcher batcher(corpus(100), {.source_tokens = 10'000, .target_tokens = 10'000, .sentences = 7}, 1, {});
    for (const auto& step : batcher.plan(0)) {
        CHECK(step.size() <= 7);
    }
    CHECK(batcher.steps_per_epoch() == 15);
}

TEST_CASE("a plan depends on seed and epoch alone", "[batcher]") {
    Batcher first(corpus(500), kBudget, 1, {});
    const Batcher second(corpus(500), kBudget, 1, {});
    const Batcher other(corpus(500), kBudget, 2, {});
    first.next();
    CHECK(first.plan(5) == second.plan(5));
    CHECK(first.plan(5) != first.plan(6));
    CHECK(first.plan(5) != other.plan(5));
    // Not the order of the steps alone: other sentences meet.
    const auto members = [](const Steps& steps) {
        std::set<std::set<std::size_t>> sets;
        for (const auto& step : steps) {
            sets.emplace(step.begin(), step.end());
        }
        return sets;
    };
    CHECK(members(first.plan(5)) != members(first.plan(6)));
    // Nor from short to long.
    const Steps steps = first.plan(0);
    CHECK_FALSE(std::is_sorted(steps.begin(), steps.end(), [&](const auto& a, const auto& b) {
        return first.batch(a).source_length < first.batch(b).source_length;
    }));
}

TEST_CASE("the plan is the same on every machine", "[batcher]") {
    // Written down once: a change here changes what a resumed run would train on.
    std::vector<Pair> pairs(6);
    for (Pair& pair : pairs) {
        pair = {{5}, {6}};
    }
    const Batcher batcher(pairs, {.source_tokens = 16, .target_tokens = 16}, 7, {});
    CHECK(batcher.plan(0) == Steps{{2, 4}, {0, 3}, {1, 5}});
    CHECK(batcher.plan(1) == Steps{{3, 1}, {4, 5}, {0, 2}});
}

TEST_CASE("a run goes on where it stood", "[batcher]") {
    Batcher whole(corpus(300), kBudget, 9, {});
    const std::int64_t steps = whole.steps_per_epoch();
    REQUIRE(steps > 5);
    for (const std::int64_t stop : {std::int64_t{0}, std::int64_t{3}, steps - 1, steps, steps + 4, 2 * steps}) {
        Batcher before(corpus(300), kBudget, 9, {});
        for (std::int64_t step = 0; step < stop; ++step) {
            before.next();
        }
        CHECK(before.state() == BatcherState{stop / steps, stop % steps});
        Batcher after(corpus(300), kBudget, 9, {});
        after.set_state(before.state());
        for (std::int64_t step = 0; step < steps + 2; ++step) {
            REQUIRE(after.next() == before.next());
        }
        CHECK(after.state() == before.state());
    }
}

TEST_CASE("a state of other data is refused", "[batcher]") {
    Batcher batcher(corpus(300), kBudget, 9, {});
    const std::int64_t steps = batcher.steps_per_epoch();
    CHECK_THAT(error_of([&] {
                   batcher.set_state({2, steps});
               }),
               Contains("epoch 2") && Contains("data and the batch size"));
    CHECK_FALSE(error_of([&] { batcher.set_state({0, -1}); }).empty());
    CHECK_FALSE(error_of([&] { batcher.set_state({-1, 0}); }).empty());
    CHECK(error_of([&] { batcher.set_state({2, steps - 1}); }).empty());
}

TEST_CASE("micro-batches are the step in parts", "[batcher]") {
    const Batcher batcher(corpus(500), kBudget, 1, {});
    const BatchBudget small{.source_tokens = 100, .target_tokens = 90};
    std::size_t parted = 0;
    for (const auto& step : batcher.plan(0)) {
        const Batch whole = batcher.batch(step);
        const std::vector<Batch> parts = batcher.micro_batches(step, small);
        parted += parts.size() > 1 ? 1 : 0;
        std::int64_t source_tokens = 0;
        std::int64_t target_tokens = 0;
        std::int32_t ordinal = 0;
        for (const Batch& part : parts) {
            const bool alone = part.sentences == 1;
            CHECK((alone || part.sentences * part.source_length <= small.source_tokens));
            CHECK((alone || part.sentences * part.target_length <= small.target_tokens));
            source_tokens += part.source_tokens;
            target_tokens += part.target_tokens;
            for (std::size_t row = 0; row < static_cast<std::size_t>(part.sentences); ++row) {
                CHECK(part.ordinals[row] == ordinal);
                // The corpus writes each pair's number as its ids.
                CHECK(part.source[row * static_cast<std::size_t>(part.source_length)] ==
                      static_cast<std::int32_t>(step[static_cast<std::size_t>(ordinal)]));
                ++ordinal;
            }
        }
        CHECK(ordinal == whole.sentences);
        CHECK(source_tokens == whole.source_tokens);
        CHECK(target_tokens == whole.target_tokens);
    }
    CHECK(parted > 10);
}

TEST_CASE("what no batch can hold is refused", "[batcher]") {
    CHECK_THAT(error_of([] { Batcher({}, kBudget, 1, {}); }), Contains("no sentence pair"));
    std::vector<Pair> pairs = corpus(5);
    pairs[3].target.assign(500, 4);
    CHECK_THAT(error_of([&] { Batcher(pairs, kBudget, 1, {}); }),
               Contains("pair 4") && Contains("504") && Contains("500"));
    pairs[3].target.assign(499, 4);
    CHECK(error_of([&] { Batcher(pairs, {.source_tokens = 400, .target_tokens = 504}, 1, {}); }).empty());
    CHECK_FALSE(error_of([&] { Batcher(pairs, {.source_tokens = 0, .target_tokens = 504}, 1, {}); }).empty());
}
