// What an output must begin and end with, how long it may be, and what it must not contain.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_scorer.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kWords = kFirstWord + 9;

bool contains(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& word) {
    return std::search(tokens.begin(), tokens.end(), word.begin(), word.end()) != tokens.end();
}

}  // namespace

TEST_CASE("given tokens begin an output with probability 1, count in its length and have no text") {
    const int beam = GENERATE(1, 4);
    const bool sampled = beam == 1 && GENERATE(false, true);
    const std::vector<std::int32_t> given{7, 9};
    SearchOptions options{.beam = beam, .length_penalty = 1.0, .length_penalty_form = LengthPenaltyForm::Power};
    if (sampled) {
        options.sample = true;
    }
    TokenRules rules = fake_rules();
    rules.text_of = [](const std::vector<std::int32_t>&, const std::vector<std::int32_t>& tokens) {
        return std::to_string(tokens.empty() ? 0 : tokens.front());
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, kWords);
        FakeScorer scorer(1, kWords, table);
        const Hypothesis found =
            search_tasks(scorer, {{.limit = 14, .prefix = given, .given = 2}}, kBos, rules, options).front().front();
        // The same model after the given tokens.
        FakeScorer after(1, kWords, [&](std::int64_t sentence, const FakeScorer::Prefix& written) {
            FakeScorer::Prefix whole = given;
            whole.insert(whole.end(), written.begin(), written.end());
            return table(sentence, whole);
        });
        if (!sampled) {  // samples depend on the position
            SearchOptions alone = options;
            alone.length_penalty = 0.0;
            alone.beam = 1;
            const Hypothesis rest = search(after, {12}, kBos, fake_rules(), alone).front();
            CHECK((beam > 1 ||
                   std::equal(rest.tokens.begin(), rest.tokens.end(), found.tokens.begin() + 2, found.tokens.end())));
            CHECK((beam > 1 || found.log_probability == Approx(rest.log_probability).margin(1e-9)));
        }
        REQUIRE(found.tokens.size() > 3);  // at least one piece and the end
        CHECK(std::equal(given.begin(), given.end(), found.tokens.begin()));
        CHECK(found.token_log_probabilities[0] == 0.0);
        CHECK(found.token_log_probabilities[1] == 0.0);
        CHECK(found.score == Approx(found.log_probability / static_cast<double>(found.tokens.size())));
        CHECK(found.text == std::to_string(found.tokens[2]));
    }
}

TEST_CASE("an output at the limit ends there if that is asked for") {
    const int beam = GENERATE(1, 4);
    const auto table = random_table(3, kWords, -20.0F);  // it never ends by itself
    FakeScorer cut_scorer(1, kWords, table);
    const Hypothesis cut = search(cut_scorer, {6}, kBos, fake_rules(), {.beam = beam}).front();
    CHECK(cut.end == EndReason::Limit);
    FakeScorer scorer(1, kWords, table);
    const Hypothesis ended = search(scorer, {6}, kBos, fake_rules(), {.beam = beam, .force_end = true}).front();
    CHECK(ended.end == EndReason::EndOfSentence);
    REQUIRE(ended.tokens.size() == 6);
    CHECK(ended.tokens.back() == kEos);
    CHECK(ended.token_log_probabilities.back() == 0.0);
    // The rest is what a search of one token less finds.
    FakeScorer shorter(1, kWords, table);
    const Hypothesis rest = search(shorter, {5}, kBos, fake_rules(), {.beam = beam}).front();
    CHECK(std::equal(rest.tokens.begin(), rest.tokens.end(), ended.tokens.begin(), ended.tokens.end() - 1));
    CHECK(ended.log_probability == rest.log_probability);
}

TEST_CASE("bad words are never written") {
    const int beam = GENERATE(1, 3);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, kWords, -3.0F);
        const auto written = [&](const std::vector<std::vector<std::int32_t>>& bad_words) {
            FakeScorer scorer(1, kWords, table);
            return search(scorer, {12}, kBos, fake_rules(), {.beam = beam, .bad_words = bad_words}).front().tokens;
        };
        const std::vector<std::int32_t> free = written({});
        REQUIRE(free.size() > 3);
        const std::vector<std::vector<std::int32_t>> words{{free[0]}, {free[1], free[2]}, {free[0], free[1], free[2]}};
        for (const std::vector<std::int32_t>& word : words) {
            CHECK(contains(free, word));
            CHECK_FALSE(contains(written({word}), word));
        }
        const std::vector<std::int32_t> none = written(words);
        CHECK(std::none_of(words.begin(), words.end(), [&](const auto& word) { return contains(none, word); }));
        CHECK(written({{free[2], free[2], free[2], free[2], free[2]}}) == free);
    }
}

TEST_CASE("the smallest limit of an output's length applies") {
    SearchOptions options{.max_extra = 50};
    CHECK(output_limit(options, 10) == 60);
    options.max_length = 40;
    CHECK(output_limit(options, 10) == 40);
    CHECK(output_limit(options, 0) == 40);
    options.max_factor = 2.5;
    CHECK(output_limit(options, 10) == 25);
    CHECK(output_limit(options, 30) == 40);
    CHECK(output_limit(options, 0) == 40);  // a language model has no source
    options.max_extra = 3;
    CHECK(output_limit(options, 10) == 13);
    CHECK(output_limit({.max_extra = 0, .max_factor = 0.1}, 1) == 1);  // room for the end
    CHECK_THROWS_WITH(check_search_options({.max_length = -1}), Contains("\"max_length\" must be"));
    CHECK_THROWS_WITH(check_search_options({.max_factor = 1e9}), Contains("\"max_factor\" must be"));
}

TEST_CASE("what a rule forbids after the tokens so far never follows, and ends nothing else") {
    const int beam = GENERATE(1, 4);
    SearchOptions options{.beam = beam};
    // Never the same token twice in a row, and no end before the fifth token.
    const auto rule = [](const std::vector<std::int32_t>& tokens) {
        std::vector<std::int32_t> forbidden;
        if (!tokens.empty()) {
            forbidden.push_back(tokens.back());
        }
        if (tokens.size() < 5) {
            forbidden.push_back(kEos);
        }
        return forbidden;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        FakeScorer scorer(1, kWords, random_table(seed, kWords));
        const std::vector<std::int32_t> found =
            search_tasks(scorer, {{.limit = 14, .forbidden_after = rule}}, kBos, fake_rules(), options)
                .front()
                .front()
                .tokens;
        INFO("seed " << seed);
        CHECK(found.size() > 5);
        CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    }
}
