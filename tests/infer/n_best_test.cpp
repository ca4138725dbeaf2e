// N-best lists, both length penalties and the repetition rule, compared with exhaustive search.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "fake_scorer.h"
#include "infer/forbidden_tokens.h"
#include "infer/hypotheses.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::vector<Hypothesis> run(FakeScorer& scorer, std::int64_t limit, const SearchOptions& options,
                            const TokenRules& rules = fake_rules()) {
    return search_tasks(scorer, {{.limit = limit}}, kBos, rules, options).front();
}

// "a", "aa", "aaa", ...: a text of n letters can be split into pieces in 2^(n - 1) ways.
std::string letters(const std::vector<std::int32_t>& tokens) {
    std::string text;
    for (const std::int32_t token : tokens) {
        text.append(token == kEos ? 0 : static_cast<std::size_t>(token - kFirstWord + 1), 'a');
    }
    return text;
}

TokenRules rules_with_text() {
    TokenRules rules = fake_rules();
    rules.text_of = [](const std::vector<std::int32_t>&, const std::vector<std::int32_t>& tokens) {
        return letters(tokens);
    };
    return rules;
}

std::vector<std::string> distinct_texts(const std::vector<Hypothesis>& list) {
    std::vector<std::string> texts;
    for (const Hypothesis& hypothesis : list) {
        if (std::string text = letters(hypothesis.tokens); std::find(texts.begin(), texts.end(), text) == texts.end()) {
            texts.push_back(std::move(text));
        }
    }
    return texts;
}

}  // namespace

TEST_CASE("an n-best list equals the result of exhaustive search, best first") {
    const auto [words, limit] = GENERATE(std::pair{2, 4}, std::pair{3, 3});
    const std::int64_t vocabulary = kFirstWord + words;
    const double alpha = GENERATE(0.0, 0.6, 1.5);
    const auto form = GENERATE(LengthPenaltyForm::Gnmt, LengthPenaltyForm::Power);
    const SearchOptions options{.beam = 30, .length_penalty = alpha, .length_penalty_form = form, .n_best = 5};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, vocabulary, -1.0F);
        FakeScorer scorer(1, vocabulary, table);
        const std::vector<Hypothesis> found = run(scorer, limit, options);
        const std::vector<Hypothesis> all = exhaustive(table, 0, vocabulary, limit, options);
        INFO("seed " << seed << ", words " << words << ", alpha " << alpha);
        REQUIRE(found.size() == 5);
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i].tokens == all[i].tokens);
            CHECK(found[i].score == Approx(all[i].score).epsilon(1e-12));
        }
    }
}

TEST_CASE("an n-best list contains each text once and keeps its length") {
    constexpr std::int64_t kVocabulary = kFirstWord + 2;
    constexpr std::int64_t kLimit = 5;  // texts of 0 to 8 letters
    const double alpha = GENERATE(0.0, 0.6, 1.5);
    SearchOptions options{.beam = 30, .length_penalty = alpha, .n_best = 5, .min_length = 0};
    bool different = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, kVocabulary, -1.0F);
        const std::vector<Hypothesis> all = exhaustive(table, 0, kVocabulary, kLimit, options);
        const std::vector<std::string> texts = distinct_texts(all);
        options.n_best_duplicates = false;
        FakeScorer scorer(1, kVocabulary, table);
        const std::vector<Hypothesis> found = run(scorer, kLimit, options, rules_with_text());
        INFO("seed " << seed << ", alpha " << alpha);
        REQUIRE(found.size() == 5);
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i].text == texts[i]);
            const auto best = std::find_if(all.begin(), all.end(),
                                           [&](const Hypothesis& one) { return letters(one.tokens) == texts[i]; });
            CHECK(found[i].tokens == best->tokens);
        }
        options.n_best_duplicates = true;
        FakeScorer again(1, kVocabulary, table);
        const std::vector<Hypothesis> with_duplicates = run(again, kLimit, options, rules_with_text());
        REQUIRE(with_duplicates.size() == 5);
        for (std::size_t i = 0; i < with_duplicates.size(); ++i) {
            CHECK(with_duplicates[i].tokens == all[i].tokens);
        }
        different = different || distinct_texts(with_duplicates).size() < 5;
    }
    CHECK(different);
}

TEST_CASE("texts in a list differ with a narrow beam and with cut outputs") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::int64_t vocabulary = kFirstWord + 3;
        const float eos = seed % 2 == 0 ? 0.0F : -40.0F;  // every second search is cut
        FakeScorer scorer(1, vocabulary, random_table(seed, vocabulary, eos));
        const std::vector<Hypothesis> found = run(scorer, 6, {.beam = 4, .n_best = 4}, rules_with_text());
        INFO("seed " << seed);
        REQUIRE_FALSE(found.empty());
        CHECK(distinct_texts(found).size() == found.size());
        CHECK(found.front().tokens == [&] {
            FakeScorer plain(1, vocabulary, random_table(seed, vocabulary, eos));
            return run(plain, 6, {.beam = 4}).front().tokens;
        }());
    }
}

TEST_CASE("the early end saves steps without changing n-best lists") {
    const std::int64_t vocabulary = kFirstWord + 8;
    const auto form = GENERATE(LengthPenaltyForm::Gnmt, LengthPenaltyForm::Power);
    const double alpha = GENERATE(0.0, 0.6, 1.0);
    const int n = GENERATE(1, 2, 4);
    std::int64_t with_early_end = 0;
    std::int64_t without = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto table = random_table(seed, vocabulary, 2.0F);
        SearchOptions options{.beam = 4, .length_penalty = alpha, .length_penalty_form = form, .n_best = n};
        const TokenRules rules = seed % 2 == 0 ? fake_rules() : rules_with_text();
        FakeScorer hasty(1, vocabulary, table);
        const std::vector<Hypothesis> early = run(hasty, 25, options, rules);
        options.early_end = false;
        FakeScorer patient(1, vocabulary, table);
        const std::vector<Hypothesis> late = run(patient, 25, options, rules);
        INFO("seed " << seed << ", n " << n << ", alpha " << alpha);
        REQUIRE(early.size() == late.size());
        for (std::size_t i = 0; i < early.size(); ++i) {
            CHECK(early[i].tokens == late[i].tokens);
            CHECK(early[i].score == late[i].score);
        }
        with_early_end += hasty.rows_scored();
        without += patient.rows_scored();
    }
    CHECK(with_early_end < without);
}

TEST_CASE("an n-best list begins with the single result, and its scores fall") {
    const std::int64_t vocabulary = kFirstWord + 9;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, vocabulary);
        FakeScorer one(1, vocabulary, table);
        FakeScorer four(1, vocabulary, table);
        const std::vector<Hypothesis> alone = run(one, 20, {});
        const std::vector<Hypothesis> list = run(four, 20, {.n_best = 4});
        REQUIRE(alone.size() == 1);
        REQUIRE(list.size() == 4);
        CHECK(list.front().tokens == alone.front().tokens);
        CHECK(std::is_sorted(list.begin(), list.end(),
                             [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; }));
    }
}

TEST_CASE("if too few outputs end by themselves, the likeliest cut ones follow") {
    const std::int64_t vocabulary = kFirstWord + 9;
    // The empty output ends at once; no other ends.
    const auto never = random_table(3, vocabulary, -40.0F);
    FakeScorer scorer(1, vocabulary, [&](std::int64_t sentence, const FakeScorer::Prefix& prefix) {
        auto next = never(sentence, prefix);
        next[kEos] = prefix.empty() ? std::log(0.5F) : next[kEos];
        return next;
    });
    const std::vector<Hypothesis> list = run(scorer, 4, {.beam = 3, .n_best = 3, .min_length = 0});
    REQUIRE(list.size() == 3);
    CHECK(list[0].end == EndReason::EndOfSentence);
    CHECK(list[0].tokens == std::vector<std::int32_t>{kEos});
    for (const std::size_t i : {1, 2}) {
        CHECK(list[i].end == EndReason::Limit);
        CHECK(list[i].tokens.size() == 4);
    }
    CHECK(list[1].log_probability >= list[2].log_probability);
}

TEST_CASE("the power form of the length penalty") {
    CHECK(length_penalty(8, 1.0, LengthPenaltyForm::Power) == 8.0);
    CHECK(length_penalty(16, 0.5, LengthPenaltyForm::Power) == 4.0);
    CHECK(length_penalty(9, 0.0, LengthPenaltyForm::Power) == 1.0);
    CHECK(length_penalty(7, {.length_penalty = 1.0}) == 2.0);
    CHECK(length_penalty(7, {.length_penalty = 1.0, .length_penalty_form = LengthPenaltyForm::Power}) == 7.0);
}

TEST_CASE("tokens that would repeat an n-gram are found") {
    using Tokens = std::vector<std::int32_t>;
    const auto repeating = [](const Tokens& written, int n) { return repeating_tokens(written, written, n); };
    CHECK(repeating({}, 1).empty());
    CHECK(repeating({5, 6, 5}, 1) == Tokens{5, 6});
    CHECK(repeating({5, 6, 7, 5}, 2) == Tokens{6});
    CHECK(repeating({5, 5}, 2) == Tokens{5});
    CHECK(repeating({5, 6, 5, 7, 5}, 2) == Tokens{6, 7});
    CHECK(repeating({5, 6, 7, 8, 5, 6}, 3) == Tokens{7});
    CHECK(repeating({5, 6, 7, 8, 9, 6}, 3).empty());
    CHECK(repeating({5, 6}, 4).empty());
}

TEST_CASE("a wide beam without repetitions equals exhaustive search") {
    const std::int64_t vocabulary = kFirstWord + 2;
    const int ngram = GENERATE(1, 2, 3);
    const SearchOptions options{.beam = 30, .length_penalty = 2.0, .n_best = 2, .no_repeat_ngram = ngram};
    bool different = false;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto table = random_table(seed, vocabulary, -3.0F);
        FakeScorer scorer(1, vocabulary, table);
        const std::vector<Hypothesis> found = run(scorer, 5, options);
        const std::vector<Hypothesis> all = exhaustive(table, 0, vocabulary, 5, options);
        INFO("seed " << seed << ", n-gram " << ngram);
        REQUIRE(found.size() == 2);
        CHECK(found[0].tokens == all[0].tokens);
        CHECK(found[1].tokens == all[1].tokens);
        SearchOptions free = options;
        free.no_repeat_ngram = 0;
        different = different || all[0].tokens != exhaustive(table, 0, vocabulary, 5, free).front().tokens;
    }
    CHECK(different);
}

TEST_CASE("an output has the minimum length if the limit allows") {
    // eos is always the likeliest token.
    const std::int64_t vocabulary = kFirstWord + 2;
    const auto eager = random_table(1, vocabulary, 5.0F);
    const auto length = [&](std::int64_t least, int beam, std::int64_t limit) {
        FakeScorer scorer(1, vocabulary, eager);
        return run(scorer, limit, {.beam = beam, .min_length = least}).front().tokens.size();
    };
    const int beam = GENERATE(1, 4);
    CHECK(length(0, beam, 9) == 1);
    CHECK(length(1, beam, 9) == 2);
    CHECK(length(4, beam, 9) == 5);
    CHECK(length(4, beam, 2) == 2);
    FakeScorer scorer(1, vocabulary, eager);
    CHECK(run(scorer, 9, {.beam = beam}).front().tokens.size() == 2);
    FakeScorer drawing(1, vocabulary, eager);
    CHECK(run(drawing, 9, {.beam = 1, .min_length = 3, .sample = true}).front().tokens.size() >= 4);
}

TEST_CASE("a wide beam with a minimum length equals exhaustive search") {
    const std::int64_t vocabulary = kFirstWord + 2;
    const std::int64_t least = GENERATE(0, 1, 3);
    const SearchOptions options{.beam = 30, .length_penalty = 0.3, .n_best = 2, .min_length = least};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto table = random_table(seed, vocabulary, 1.0F);
        FakeScorer scorer(1, vocabulary, table);
        const std::vector<Hypothesis> found = run(scorer, 5, options);
        const std::vector<Hypothesis> all = exhaustive(table, 0, vocabulary, 5, options);
        INFO("seed " << seed << ", at least " << least);
        REQUIRE(found.size() == 2);
        CHECK(found[0].tokens == all[0].tokens);
        CHECK(found[1].tokens == all[1].tokens);
    }
}

TEST_CASE("there may be more forbidden repetitions than a device ranks") {
    // A sequence of words, each much likelier than the next: without a rule the first is repeated forever.
    const std::int64_t vocabulary = kFirstWord + 90;
    FakeScorer scorer(1, vocabulary, [&](std::int64_t, const FakeScorer::Prefix&) {
        std::vector<float> next(static_cast<std::size_t>(vocabulary), -1000.0F);
        for (std::int64_t word = kFirstWord; word < vocabulary; ++word) {
            next[static_cast<std::size_t>(word)] = -0.5F - static_cast<float>(word);
        }
        return next;
    });
    const Hypothesis found = run(scorer, 80, {.beam = 1, .no_repeat_ngram = 1}).front();
    REQUIRE(found.tokens.size() == 80);
    for (std::size_t i = 0; i < found.tokens.size(); ++i) {
        CHECK(found.tokens[i] == kFirstWord + static_cast<std::int32_t>(i));
    }
    CHECK(scorer.whole_steps() > 0);
    CHECK(scorer.whole_steps() < scorer.steps());
}

TEST_CASE("a plain search never needs every token") {
    const std::int64_t vocabulary = kFirstWord + 90;
    FakeScorer scorer(1, vocabulary, random_table(1, vocabulary));
    run(scorer, 20, {.beam = 4, .n_best = 4, .no_repeat_ngram = 3});
    CHECK(scorer.steps() > 1);
    CHECK(scorer.whole_steps() == 0);
}

TEST_CASE("n-best and rules out of range are rejected") {
    CHECK_THROWS_WITH(check_search_options({.beam = 4, .n_best = 5}), Contains("between 1 and the beam, 4, got 5"));
    CHECK_THROWS_AS(check_search_options({.n_best = 0}), Error);
    CHECK_THROWS_AS(check_search_options({.no_repeat_ngram = -1}), Error);
    CHECK_THROWS_WITH(check_search_options({.min_length = -1}), Contains("\"min_length\"") && Contains("got -1"));
    CHECK_NOTHROW(check_search_options({.beam = 4, .n_best = 4, .no_repeat_ngram = 3}));
}
