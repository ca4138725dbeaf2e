// Outputs with a forced prefix.
#include <catch2/catch.hpp>

#include "fake_scorer.h"

using namespace headscope;

namespace {

constexpr std::int64_t kPrefixWords = kFirstWord + 9;

double log_probability_of(const FakeScorer::Table& table, std::int64_t sentence, const FakeScorer::Prefix& tokens) {
    double sum = 0.0;
    FakeScorer::Prefix before;
    for (const std::int32_t token : tokens) {
        sum += static_cast<double>(table(sentence, before)[static_cast<std::size_t>(token)]);
        before.push_back(token);
    }
    return sum;
}

}  // namespace

TEST_CASE("an output begins with its prefix, whose probability counts") {
    const int beam = GENERATE(1, 4);
    const std::vector<std::int32_t> prefix{9, 4, 11};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, kPrefixWords);
        FakeScorer scorer(1, kPrefixWords, table);
        const SearchOptions options{.beam = beam, .n_best = beam};
        const auto lists = search_tasks(scorer, {{.limit = 20, .prefix = prefix}}, kBos, fake_rules(), options);
        for (const Hypothesis& found : lists.front()) {
            REQUIRE(found.tokens.size() >= prefix.size());
            CHECK(std::equal(prefix.begin(), prefix.end(), found.tokens.begin()));
            CHECK(found.log_probability == Approx(log_probability_of(table, 0, found.tokens)));
        }
    }
}

TEST_CASE("after its prefix an output is the result of a search from there") {
    const std::vector<std::int32_t> prefix{7, 7};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, kPrefixWords);
        FakeScorer forced(1, kPrefixWords, table);
        const Hypothesis found =
            search_tasks(forced, {{.limit = 14, .prefix = prefix}}, kBos, fake_rules(), {.length_penalty = 0.0})
                .front()
                .front();
        // The same model after the prefix.
        FakeScorer free(1, kPrefixWords, [&](std::int64_t sentence, const FakeScorer::Prefix& written) {
            FakeScorer::Prefix whole = prefix;
            whole.insert(whole.end(), written.begin(), written.end());
            return table(sentence, whole);
        });
        const SearchOptions options{.length_penalty = 0.0, .min_length = 0};
        const Hypothesis rest = search(free, {12}, kBos, fake_rules(), options).front();
        CHECK(std::vector<std::int32_t>(found.tokens.begin() + 2, found.tokens.end()) == rest.tokens);
        CHECK(found.log_probability ==
              Approx(rest.log_probability + log_probability_of(table, 0, prefix)).margin(1e-9));
    }
}

TEST_CASE("prefixes of different lengths share a batch, and an empty one changes nothing") {
    const auto table = random_table(5, kPrefixWords, 1.0F);
    const std::vector<SearchTask> tasks{
        {.limit = 9, .prefix = {5, 6, 7, 8}}, {.limit = 12}, {.limit = 7, .prefix = {4}}};
    FakeScorer together(3, kPrefixWords, table);
    const auto batch = search_tasks(together, tasks, kBos, fake_rules(), {});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        FakeScorer alone(1, kPrefixWords,
                         [&](std::int64_t, const auto& prefix) { return table(static_cast<std::int64_t>(i), prefix); });
        const Hypothesis found = search_tasks(alone, {tasks[i]}, kBos, fake_rules(), {}).front().front();
        CHECK(found.tokens == batch[i].front().tokens);
        CHECK(found.log_probability == batch[i].front().log_probability);
    }
    FakeScorer plain(1, kPrefixWords, [&](std::int64_t, const auto& prefix) { return table(1, prefix); });
    CHECK(search(plain, {12}, kBos, fake_rules(), {}).front().tokens == batch[1].front().tokens);
}

TEST_CASE("a prefix may repeat itself, the rest of the output may not") {
    const auto table = random_table(8, kPrefixWords, -40.0F);
    FakeScorer scorer(1, kPrefixWords, table);
    const SearchTask task{.limit = 16, .prefix = {5, 6, 5, 6}};
    const Hypothesis found = search_tasks(scorer, {task}, kBos, fake_rules(), {.no_repeat_ngram = 2}).front().front();
    REQUIRE(found.tokens.size() == 16);
    CHECK(std::equal(task.prefix.begin(), task.prefix.end(), found.tokens.begin()));
    for (std::size_t i = 3; i + 1 < found.tokens.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            CHECK_FALSE((found.tokens[i] == found.tokens[j] && found.tokens[i + 1] == found.tokens[j + 1]));
        }
    }
}
