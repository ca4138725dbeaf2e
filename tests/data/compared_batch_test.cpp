// Batches of responses that are compared, and the examples that they come from.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "data/batcher.h"
#include "data/response_encoder.h"
#include "data/response_source.h"
#include "support/check.h"

using namespace headscope;
using Ids = std::vector<std::int32_t>;

namespace {

// Three texts of ranks 1, 2 and 2, of a prompt 5 6 that the responses follow.
Example ranked_example() {
    return {.target = {5, 6, 7, 2, 5, 6, 8, 9, 2, 5, 6, 2},
            .labels = {-1, 7, 2, -1, -1, 8, 9, 2, -1, -1, 2, -1},
            .starts = {0, 4, 9},
            .ranks = {1, 2, 2}};
}

Example pair_of(std::int32_t better, std::int32_t worse) {
    return {.target = {5, better, 2, 5, worse, 2},
            .labels = {better, 2, -1, worse, 2, -1},
            .starts = {0, 3},
            .ranks = {1, 2},
            .references = {-1.5F, -2.5F}};
}

const BatchBudget kAll{.source_tokens = 1000, .target_tokens = 1000, .length_multiple = 1};

}  // namespace

TEST_CASE("each text that is compared is a row of its own", "[comparisons]") {
    Example pair = pair_of(7, 8);
    pair.references.clear();
    const Batch batch = make_batch(std::vector{ranked_example(), pair}, {}, 3, {.multiple = 1});
    CHECK(batch.sentences == 5);
    CHECK(batch.examples() == 2);
    CHECK(batch.counted() == 2);
    CHECK(batch.target.lengths == Ids{4, 5, 3, 3, 3});
    CHECK(batch.target.ranges.empty());  // rows do not hold several documents
    CHECK(batch.ordinals == Ids{3, 4, 5, 6, 7});
    const Comparisons& found = batch.comparisons;
    CHECK(found.texts == Ids{1, 0, 2, 0, 4, 3});
    CHECK(found.better == Ids{1, 1, 1});
    CHECK(found.weights == std::vector<float>{0.5F, 0.5F, 1.0F});
    CHECK(found.order == Ids{1, 3, 0, 2, 5, 4});
    CHECK(found.ends.rows == Ids{3, 9, 12, 17, 22});
    CHECK(found.ends.count == 0);
}

TEST_CASE("each row to predict knows its text, also where few rows are gathered", "[comparisons]") {
    const bool long_prompt = GENERATE(false, true);
    Example example = pair_of(7, 8);
    if (long_prompt) {
        example.target.insert(example.target.begin(), 90, 4);
        example.labels.insert(example.labels.begin(), 90, kNoTarget);
        example.starts[1] += 90;
    }
    const Batch batch = make_batch(std::vector{example}, {}, 0, {.multiple = 1});
    CHECK(batch.predicted.rows.empty() != long_prompt);
    const Comparisons& found = batch.comparisons;
    REQUIRE(found.text_of.size() == batch.predicted.classes.size());
    std::array<int, 2> rows{};
    for (std::size_t row = 0; row < found.text_of.size(); ++row) {
        REQUIRE((found.text_of[row] == kNoTarget) == (batch.predicted.classes[row] == kNoTarget));
        if (found.text_of[row] != kNoTarget) {
            ++rows[static_cast<std::size_t>(found.text_of[row])];
        }
    }
    CHECK(rows == std::array{2, 2});
    CHECK(std::count(found.text_order.begin(), found.text_order.end(), kNoPosition) ==
          std::ssize(found.text_order) - 4);
    CHECK(found.references == std::vector<float>{-1.5F, -2.5F});
}

TEST_CASE("the texts of a prompt stay in one part of a step", "[comparisons]") {
    const std::vector<Example> step{ranked_example(), pair_of(7, 8), pair_of(8, 7)};
    BatchBudget small = kAll;
    small.source_tokens = small.target_tokens = 12;
    std::vector<Example> without = step;
    for (Example& example : without) {
        example.references.clear();
    }
    const std::vector<Batch> parts = micro_batches(without, {}, {.multiple = 1}, small);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].sentences == 3);  // more than the budget, which one prompt alone may have
    CHECK(parts[1].examples() == 2);
    CHECK(parts[1].ordinals == Ids{3, 4, 5, 6});
}

TEST_CASE("responses to a prompt that exceed the budget form a step of their own", "[comparisons]") {
    ResponseStore store("");
    for (const Example& example : {pair_of(7, 8), ranked_example(), pair_of(8, 9), pair_of(9, 7)}) {
        store.add(example);
    }
    const auto source = std::make_shared<ResponseSource>(std::move(store), std::vector<WeightedExamples>{{4, 1.0}}, 1);
    const BatchBudget budget{.source_tokens = 12, .target_tokens = 12, .length_multiple = 1};
    Batcher batcher(source, budget, 1, {});  // ranked_example() takes 15
    std::vector<std::size_t> examples;
    while (batcher.epochs_done() < 1.0) {
        const TrainingStep step = batcher.next();
        examples.push_back(step.examples.size());
        CHECK((step.examples.front().ranks.size() == 2 || step.examples.size() == 1));
    }
    std::ranges::sort(examples);
    CHECK(examples == std::vector<std::size_t>{1, 1, 2});
}

TEST_CASE("a comparison without pairs or with too few ranks is a mistake of the caller", "[comparisons]") {
    Example example = pair_of(7, 8);
    example.ranks = {1, 1};
    CHECK_THROWS_AS(make_batch(std::vector{example}, {}, 0), CheckFailure);
    example.ranks = {1};
    CHECK_THROWS_AS(make_batch(std::vector{example}, {}, 0), CheckFailure);
}

TEST_CASE("a store gives back the examples that it was given", "[responses]") {
    ResponseStore store("");
    Example plain{.target = {5, 6, 7, 2}, .labels = {-1, 7, 2, -1}};
    Example two_replies{.target = {5, 7, 2, 5, 8, 2}, .labels = {7, 2, -1, 8, 2, -1}};
    const std::vector<Example> all{ranked_example(), plain, two_replies};
    for (const Example& example : all) {
        store.add(example);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Example found = store.example(i);
        CHECK(found.target == all[i].target);
        CHECK(found.labels == all[i].labels);
        CHECK(found.starts == all[i].starts);
        CHECK(found.ranks == all[i].ranks);
    }
    CHECK(store.longest() == 6);
    CHECK(store.texts() == 5);
    CHECK(store.first_text(2) == 4);
    CHECK(store.labelled() == 6 + 2 + 4);
    CHECK_FALSE(ResponseStore::can_hold({.target = Ids(70'000, 5), .labels = Ids(70'000, 5)}));
}

TEST_CASE("an epoch shows each example as often as its file's weight, with its references", "[responses]") {
    ResponseStore store("");
    Example first = pair_of(7, 8);
    Example second = pair_of(8, 9);
    first.references.clear();
    second.references.clear();
    store.add(first);
    store.add(second);
    ResponseSource source(std::move(store), {{1, 2.0}, {1, 1.0}}, 1);
    const Epoch epoch = source.epoch(0);
    CHECK(epoch.items == std::vector<std::uint32_t>{0, 0, 1});
    CHECK(source.example(epoch, 2).references.empty());
    source.set_references({-1.0F, -2.0F, -3.0F, -4.0F});
    CHECK(source.example(epoch, 1).references == std::vector<float>{-1.0F, -2.0F});
    CHECK(source.example(epoch, 2).references == std::vector<float>{-3.0F, -4.0F});
    CHECK(source.longest().target == 3);
    CHECK_THROWS_AS(source.set_references({-1.0F}), CheckFailure);
    CHECK_THROWS_AS(ResponseSource(ResponseStore(""), {}, 1), Error);
}
