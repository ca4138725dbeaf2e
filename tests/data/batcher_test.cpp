#include "data/batcher.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "data/pair_source.h"
#include "support/random.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Numbers = std::vector<std::vector<std::size_t>>;

namespace {

constexpr BatchBudget kBudget{.source_tokens = 400, .target_tokens = 500};

// Sentences of realistic lengths; targets are somewhat longer or shorter than their sources.
std::vector<Example> corpus(std::size_t count, std::uint64_t seed = 3) {
    Random random(seed);
    std::vector<Example> pairs(count);
    for (std::size_t at = 0; at < count; ++at) {
        const std::uint64_t length = 1 + random.below(12) + random.below(12) * random.below(4);
        pairs[at].source.assign(length, static_cast<std::int32_t>(at));
        pairs[at].target.assign(1 + length / 2 + random.below(length + 1), static_cast<std::int32_t>(at));
    }
    return pairs;
}

// Each pair's ids encode its number in the corpus.
std::vector<std::size_t> numbers_of(const Batcher::Step& step) {
    std::vector<std::size_t> numbers;
    for (const Example& pair : step) {
        numbers.push_back(static_cast<std::size_t>(pair.source.front()));
    }
    return numbers;
}

std::vector<Batcher::Step> steps_of(const Batcher& batcher, std::int64_t epoch) {
    std::vector<Batcher::Step> steps;
    batcher.for_each_step(epoch, [&](const Batcher::Step& step) { steps.push_back(step); });
    return steps;
}

Numbers plan(const Batcher& batcher, std::int64_t epoch) {
    Numbers steps;
    for (const Batcher::Step& step : steps_of(batcher, epoch)) {
        steps.push_back(numbers_of(step));
    }
    return steps;
}

std::vector<std::size_t> sorted(const Numbers& steps) {
    std::vector<std::size_t> all;
    for (const auto& step : steps) {
        all.insert(all.end(), step.begin(), step.end());
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::unique_ptr<Batcher> batcher_of(std::size_t pairs, std::uint64_t seed, std::size_t window = Batcher::kWindow) {
    return std::make_unique<Batcher>(std::make_shared<const PairSource>(corpus(pairs)), kBudget, seed, Frame{}, window);
}

}  // namespace

TEST_CASE("an epoch contains every pair once, within the budget", "[batcher]") {
    const std::size_t window = GENERATE(Batcher::kWindow, 300, 1);
    const auto batcher = batcher_of(2000, 1, window);
    std::vector<std::size_t> every(2000);
    std::iota(every.begin(), every.end(), std::size_t{0});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        CHECK(sorted(plan(*batcher, epoch)) == every);
        for (const Batcher::Step& step : steps_of(*batcher, epoch)) {
            const Batch batch = batcher->batch(step);
            CHECK(batch.sentences * batch.source.length <= kBudget.source_tokens);
            CHECK(batch.sentences * batch.target.length <= kBudget.target_tokens);
        }
    }
}

TEST_CASE("batches are of similar length", "[batcher]") {
    const BatchBudget budget{.source_tokens = 4000, .target_tokens = 4000};
    const std::vector<Example> pairs = corpus(20'000);
    const Batcher batcher(pairs, budget, 1, {});
    std::int64_t area = 0;
    std::int64_t least = 0;  // the area without padding between sentences
    const std::vector<Batcher::Step> steps = steps_of(batcher, 0);
    for (const Batcher::Step& step : steps) {
        const Batch batch = batcher.batch(step);
        area += batch.sentences * (batch.source.length + batch.target.length);
    }
    for (const Example& pair : pairs) {
        least += padded_length(static_cast<std::int64_t>(pair.source.size()) + 1) +
                 padded_length(static_cast<std::int64_t>(pair.target.size()) + 1);
    }
    CHECK(static_cast<double>(area) < 1.05 * static_cast<double>(least));
    // Steps are also full: only a few at jumps in length could take much more.
    const auto count = static_cast<std::int64_t>(steps.size());
    CHECK(count < 2 * area / (budget.source_tokens + budget.target_tokens));
    // The estimate ignores padding.
    CHECK(batcher.about_steps_per_epoch() < count);
    CHECK(batcher.about_steps_per_epoch() > count / 2);
}

TEST_CASE("a step that spans two source lengths joins targets of one length", "[batcher]") {
    const auto pair = [](std::size_t source, std::size_t target) {
        return Example{std::vector<std::int32_t>(source, 5), std::vector<std::int32_t>(target, 5)};
    };
    const std::vector<Example> pairs{pair(3, 3), pair(3, 3), pair(3, 60), pair(10, 60), pair(10, 3), pair(10, 3)};
    const Batcher batcher(pairs, {.source_tokens = 1000, .target_tokens = 1000, .sentences = 2}, 1, {});
    for (const Batcher::Step& step : steps_of(batcher, 0)) {
        REQUIRE(step.size() == 2);
        CHECK(step[0].target.size() == step[1].target.size());
    }
}

TEST_CASE("lengths are padded to the requested multiple", "[batcher]") {
    const std::int64_t multiple = GENERATE(1, 3, 16);
    const BatchBudget budget{.source_tokens = 1000, .target_tokens = 1000, .length_multiple = multiple};
    const Batcher batcher(corpus(1000), budget, 1, {});
    for (const Batcher::Step& step : steps_of(batcher, 0)) {
        std::vector<Batch> batches = batcher.micro_batches(step, {.source_tokens = 300, .target_tokens = 300});
        batches.push_back(batcher.batch(step));
        for (const Batch& batch : batches) {
            const auto longest = [](const std::vector<std::int32_t>& lengths) {
                return static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
            };
            CHECK(batch.source.length == (longest(batch.source.lengths) + multiple - 1) / multiple * multiple);
            CHECK(batch.target.length == (longest(batch.target.lengths) + multiple - 1) / multiple * multiple);
            CHECK(batch.sentences * batch.source.length <= budget.source_tokens);
            CHECK(batch.sentences * batch.target.length <= budget.target_tokens);
        }
    }
    CHECK_THROWS_AS(Batcher(corpus(3), {.length_multiple = 0}, 1, {}), CheckFailure);
}

TEST_CASE("the maximum length limits the padding and the counted area", "[batcher]") {
    const std::vector<Example> pairs(6, Example{std::vector<std::int32_t>(8, 5), std::vector<std::int32_t>(8, 6)});
    const BatchBudget budget{.source_tokens = 30, .target_tokens = 30, .longest = 10};
    const Batcher batcher(pairs, budget, 1, {});
    const std::vector<Batcher::Step> steps = steps_of(batcher, 0);
    CHECK(steps.size() == 2);  // three sentences of 10; with length 16 only one would fit
    CHECK(batcher.batch(steps.front()).source.length == 10);
}

TEST_CASE("the number of sentences is bounded too", "[batcher]") {
    const Batcher batcher(corpus(100), {.source_tokens = 10'000, .target_tokens = 10'000, .sentences = 7}, 1, {});
    const std::vector<Batcher::Step> steps = steps_of(batcher, 0);
    for (const Batcher::Step& step : steps) {
        CHECK(step.size() <= 7);
    }
    CHECK(steps.size() == 15);
}

TEST_CASE("the steps depend only on seed and epoch", "[batcher]") {
    const auto first = batcher_of(500, 1);
    const auto second = batcher_of(500, 1);
    const auto other = batcher_of(500, 2);
    first->next();
    CHECK(plan(*first, 5) == plan(*second, 5));
    CHECK(plan(*first, 5) != plan(*first, 6));
    CHECK(plan(*first, 5) != plan(*other, 5));
    // Not only the order of the steps differs: different sentences share a step.
    const auto members = [](const Numbers& steps) {
        std::set<std::set<std::size_t>> sets;
        for (const auto& step : steps) {
            sets.emplace(step.begin(), step.end());
        }
        return sets;
    };
    CHECK(members(plan(*first, 5)) != members(plan(*first, 6)));
    // Nor are steps sorted from short to long.
    const std::vector<Batcher::Step> steps = steps_of(*first, 0);
    CHECK_FALSE(std::is_sorted(steps.begin(), steps.end(), [&](const auto& a, const auto& b) {
        return first->batch(a).source.length < first->batch(b).source.length;
    }));
}

TEST_CASE("the steps are the same on every machine", "[batcher]") {
    // Fixed values: a change here changes the data that a resumed run trains on.
    std::vector<Example> pairs(6);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {{static_cast<std::int32_t>(i)}, {6}};
    }
    const auto source = std::make_shared<const PairSource>(pairs);
    const Batcher batcher(source, {.source_tokens = 16, .target_tokens = 16}, 7, {}, 4);
    CHECK(plan(batcher, 0) == Numbers{{1, 5}, {2, 4}, {0, 3}});
    CHECK(plan(batcher, 1) == Numbers{{4, 5}, {3, 1}, {0, 2}});
}

TEST_CASE("a run resumes where it stopped", "[batcher]") {
    const std::size_t window = GENERATE(Batcher::kWindow, 100);
    const auto steps = static_cast<std::int64_t>(plan(*batcher_of(300, 9, window), 0).size());
    REQUIRE(steps > 5);
    for (const std::int64_t stop : {std::int64_t{0}, std::int64_t{3}, steps - 1, steps, steps + 4, 2 * steps}) {
        const auto before = batcher_of(300, 9, window);
        for (std::int64_t step = 0; step < stop; ++step) {
            before->next();
        }
        CHECK(before->position().epoch == (stop < steps ? 0 : stop < 2 * steps ? 1 : 2));
        const auto after = batcher_of(300, 9, window);
        after->set_state(before->state());
        CHECK(after->epochs_done() == before->epochs_done());
        for (std::int64_t step = 0; step < steps + 2; ++step) {
            REQUIRE(numbers_of(after->next().examples) == numbers_of(before->next().examples));
        }
        CHECK(after->position() == before->position());
    }
}

TEST_CASE("next() follows for_each_step()", "[batcher]") {
    const auto batcher = batcher_of(300, 9, 100);
    double before = -1.0;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        for (const auto& step : plan(*batcher, epoch)) {
            CHECK(batcher->epochs_done() > before);
            before = batcher->epochs_done();
            REQUIRE(numbers_of(batcher->next().examples) == step);
        }
        CHECK(batcher->epochs_done() == static_cast<double>(epoch + 1));
    }
}

TEST_CASE("a state of other data is rejected", "[batcher]") {
    const auto batcher = batcher_of(300, 9);
    const auto steps = static_cast<std::int64_t>(plan(*batcher, 2).size());
    CHECK_THAT(error_of([&] {
                   batcher->go_to({2, 0, steps});
               }),
               Contains("epoch 2") && Contains("data and the batch size"));
    CHECK_THAT(error_of([&] { batcher->go_to({2, 1, 0}); }), Contains("part 1 of epoch 2") && Contains("has 1"));
    CHECK_FALSE(error_of([&] { batcher->go_to({0, 0, -1}); }).empty());
    CHECK_THROWS_AS(batcher->go_to({-1, 0, 0}), CheckFailure);
    for (const char* other : {R"({"taken": 3})", R"({"epoch": 0, "window": 0, "window_step": -1})",
                              R"({"epoch": 0, "window": "0", "window_step": 0})"}) {
        CHECK_THAT(error_of([&] { batcher->set_state(nlohmann::json::parse(other)); }), Contains("whole number"));
    }
    CHECK(error_of([&] { batcher->go_to({2, 0, steps - 1}); }).empty());
}

TEST_CASE("micro-batches are parts of the step", "[batcher]") {
    const auto batcher = batcher_of(500, 1);
    const BatchBudget small{.source_tokens = 100, .target_tokens = 90};
    std::size_t parted = 0;
    for (const Batcher::Step& step : steps_of(*batcher, 0)) {
        const Batch whole = batcher->batch(step);
        const std::vector<Batch> parts = batcher->micro_batches(step, small);
        parted += parts.size() > 1 ? 1 : 0;
        std::int64_t source_tokens = 0;
        std::int64_t target_tokens = 0;
        std::int32_t ordinal = 0;
        for (const Batch& part : parts) {
            const bool alone = part.sentences == 1;
            CHECK((alone || part.sentences * part.source.length <= small.source_tokens));
            CHECK((alone || part.sentences * part.target.length <= small.target_tokens));
            source_tokens += part.source.count;
            target_tokens += part.predicted.count;
            for (std::size_t row = 0; row < static_cast<std::size_t>(part.sentences); ++row) {
                CHECK(part.ordinals[row] == ordinal);
                CHECK(part.source.ids[row * static_cast<std::size_t>(part.source.length)] ==
                      step[static_cast<std::size_t>(ordinal)].source.front());
                ++ordinal;
            }
        }
        CHECK(ordinal == whole.sentences);
        CHECK(source_tokens == whole.source.count);
        CHECK(target_tokens == whole.predicted.count);
    }
    CHECK(parted > 10);
}

TEST_CASE("a pair that exceeds the budget is rejected", "[batcher]") {
    CHECK_THAT(error_of([] { Batcher(std::vector<Example>{}, kBudget, 1, {}); }), Contains("no sentence pairs"));
    std::vector<Example> pairs = corpus(5);
    pairs[3].target.assign(500, 4);
    CHECK_THAT(error_of([&] { Batcher(pairs, kBudget, 1, {}); }), Contains("504") && Contains("500"));
    pairs[3].target.assign(499, 4);
    CHECK(error_of([&] { Batcher(pairs, {.source_tokens = 400, .target_tokens = 504}, 1, {}); }).empty());
    CHECK_FALSE(error_of([&] { Batcher(pairs, {.source_tokens = 0, .target_tokens = 504}, 1, {}); }).empty());
}
