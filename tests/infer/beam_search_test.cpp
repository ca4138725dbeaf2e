#include <algorithm>
#include <limits>
#include <map>

#include <catch2/catch.hpp>

#include "fake_scorer.h"
#include "support/check.h"

using namespace headscope;

namespace {

std::vector<Hypothesis> run(FakeScorer& scorer, const std::vector<std::int64_t>& limits, const SearchOptions& options) {
    return search(scorer, limits, kBos, fake_rules(), options);
}

bool same(const Hypothesis& a, const Hypothesis& b) {
    return a.tokens == b.tokens && a.log_probability == b.log_probability && a.score == b.score && a.end == b.end;
}

// The rest of the probability goes to pad, which is forbidden.
std::vector<float> distribution(const std::map<std::int32_t, double>& probabilities, std::int64_t vocabulary) {
    std::vector<float> logs(static_cast<std::size_t>(vocabulary), std::log(1e-9F));
    double rest = 1.0;
    for (const auto& [token, probability] : probabilities) {
        logs[static_cast<std::size_t>(token)] = static_cast<float>(std::log(probability));
        rest -= probability;
    }
    logs[kPad] = static_cast<float>(std::log(std::max(rest, 1e-9)));
    return logs;
}

}  // namespace

TEST_CASE("a beam wide enough finds what exhaustive search finds") {
    // The most words and the longest output that beam 30 can hold completely.
    const auto [words, limit] = GENERATE(std::pair{2, 4}, std::pair{3, 3});
    const std::int64_t vocabulary = kFirstWord + words;
    const double alpha = GENERATE(0.0, 0.6, 1.5);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto table = random_table(seed, vocabulary, -1.0F);
        FakeScorer scorer(1, vocabulary, table);
        const Hypothesis found = run(scorer, {limit}, {.beam = 30, .length_penalty = alpha}).front();
        const Hypothesis best = exhaustive_best(table, 0, vocabulary, limit, alpha);
        INFO("seed " << seed << ", words " << words << ", alpha " << alpha);
        CHECK(found.tokens == best.tokens);
        CHECK(found.score == Approx(best.score).epsilon(1e-12));
    }
}

TEST_CASE("the early end saves steps without changing results") {
    const std::int64_t vocabulary = kFirstWord + 8;
    const int beam = GENERATE(2, 3, 4, 8);
    std::int64_t with_early_end = 0;
    std::int64_t without = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto table = random_table(seed, vocabulary, 2.0F);
        FakeScorer hasty(2, vocabulary, table);
        FakeScorer patient(2, vocabulary, table);
        const auto a = run(hasty, {25, 14}, {.beam = beam});
        const auto b = run(patient, {25, 14}, {.beam = beam, .early_end = false});
        INFO("seed " << seed << ", beam " << beam);
        CHECK(same(a[0], b[0]));
        CHECK(same(a[1], b[1]));
        with_early_end += hasty.rows_scored();
        without += patient.rows_scored();
    }
    CHECK(with_early_end < without);
}

TEST_CASE("a hypothesis that ends later can win against one that is finished") {
    // "4" ends at once with 0.5; "5 6 7" follows with 0.48 and no further loss: longer, so the penalty favours it.
    const std::int64_t vocabulary = kFirstWord + 4;
    const FakeScorer::Table table = [&](std::int64_t, const FakeScorer::Prefix& prefix) {
        const std::map<FakeScorer::Prefix, std::map<std::int32_t, double>> next{
            {{}, {{4, 0.5}, {5, 0.48}}}, {{4}, {{kEos, 0.99}}},       {{5}, {{6, 0.99}}},
            {{5, 6}, {{7, 0.99}}},       {{5, 6, 7}, {{kEos, 0.99}}},
        };
        const auto found = next.find(prefix);
        return distribution(found == next.end() ? std::map<std::int32_t, double>{{kEos, 0.5}} : found->second,
                            vocabulary);
    };
    FakeScorer scorer(1, vocabulary, table);
    CHECK(run(scorer, {8}, {.beam = 2}).front().tokens == std::vector<std::int32_t>{5, 6, 7, kEos});
    FakeScorer unpenalised(1, vocabulary, table);
    CHECK(run(unpenalised, {8}, {.beam = 2, .length_penalty = 0.0}).front().tokens ==
          std::vector<std::int32_t>{4, kEos});
    FakeScorer greedy(1, vocabulary, table);
    CHECK(run(greedy, {8}, {.beam = 1}).front().tokens == std::vector<std::int32_t>{4, kEos});
}

TEST_CASE("beam 1 is greedy: the likeliest allowed token each time, to the first end") {
    const std::int64_t vocabulary = kFirstWord + 5;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto table = random_table(seed, vocabulary);
        FakeScorer::Prefix greedy;
        double log_probability = 0.0;
        while (greedy.size() < 12 && (greedy.empty() || greedy.back() != kEos)) {
            std::vector<float> next = table(0, greedy);
            next[kPad] = next[kBos] = next[kUnk] = -std::numeric_limits<float>::infinity();
            next[kEos] = greedy.empty() ? next[kPad] : next[kEos];  // some output must be possible
            const auto best = std::max_element(next.begin(), next.end());
            log_probability += static_cast<double>(*best);
            greedy.push_back(static_cast<std::int32_t>(best - next.begin()));
        }
        FakeScorer scorer(1, vocabulary, table);
        const Hypothesis found = run(scorer, {12}, {.beam = 1, .early_end = GENERATE(true, false)}).front();
        CHECK(found.tokens == greedy);
        CHECK(found.log_probability == Approx(log_probability));
        CHECK(found.end == (greedy.back() == kEos ? EndReason::EndOfSentence : EndReason::Limit));
    }
}

TEST_CASE("results do not depend on the batch, and finished sentences leave it") {
    const std::int64_t vocabulary = kFirstWord + 9;
    const auto table = random_table(7, vocabulary, 1.0F);
    const std::vector<std::int64_t> limits{9, 1, 30, 4, 17};
    FakeScorer together(static_cast<std::int64_t>(limits.size()), vocabulary, table);
    const auto batch = run(together, limits, {});
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < limits.size(); ++i) {
        FakeScorer alone(1, vocabulary,
                         [&](std::int64_t, const auto& prefix) { return table(static_cast<std::int64_t>(i), prefix); });
        CHECK(same(run(alone, {limits[i]}, {}).front(), batch[i]));
        rows += alone.rows_scored();
    }
    CHECK(together.rows_scored() == rows);
}

TEST_CASE("outputs are cut at the limit and marked") {
    const std::int64_t vocabulary = kFirstWord + 9;
    const auto never_ends = random_table(3, vocabulary, -40.0F);
    FakeScorer scorer(1, vocabulary, never_ends);
    const Hypothesis cut = run(scorer, {6}, {}).front();
    CHECK(cut.tokens.size() == 6);
    CHECK(cut.end == EndReason::Limit);
    CHECK(cut.score == Approx(cut.log_probability / std::pow(11.0 / 6.0, 0.6)));
    CHECK(scorer.steps() == 6);

    // Room only for eos.
    FakeScorer shortest(1, vocabulary, random_table(3, vocabulary, 10.0F));
    const Hypothesis empty = run(shortest, {1}, {}).front();
    CHECK(empty.tokens == std::vector<std::int32_t>{kEos});
    CHECK(empty.end == EndReason::EndOfSentence);
}

TEST_CASE("ties go to the smaller token and row") {
    const std::int64_t vocabulary = kFirstWord + 3;
    FakeScorer scorer(1, vocabulary, [&](std::int64_t, const FakeScorer::Prefix& prefix) {
        std::vector<float> equal(static_cast<std::size_t>(vocabulary), std::log(1.0F / 7.0F));
        equal[kEos] = prefix.size() < 2 ? -20.0F : equal[kEos];
        return equal;
    });
    CHECK(run(scorer, {3}, {.beam = 2}).front().tokens == std::vector<std::int32_t>{4, 4, kEos});
}

TEST_CASE("forbidden tokens are never chosen, however likely") {
    const std::int64_t vocabulary = kFirstWord + 2;
    const int beam = GENERATE(1, 2, 4);
    FakeScorer scorer(1, vocabulary, [&](std::int64_t, const FakeScorer::Prefix& prefix) {
        return distribution({{kBos, 0.3}, {kUnk, 0.3}, {4, 0.01}, {kEos, prefix.size() < 2 ? 1e-9 : 0.02}}, vocabulary);
    });
    CHECK(run(scorer, {9}, {.beam = beam}).front().tokens == std::vector<std::int32_t>{4, 4, kEos});
}

TEST_CASE("token rules follow the configuration") {
    ModelConfig config;
    CHECK(token_rules(config, {}).forbidden == std::vector<std::int32_t>{0, 1, 3});
    CHECK(token_rules(config, {.allow_unknown = true}).forbidden == std::vector<std::int32_t>{0, 1});
    CHECK(token_rules(config, {.allow_start = true}).forbidden == std::vector<std::int32_t>{0, 3});  // not the pad
    config.frame.bos_id = config.frame.pad_id;
    CHECK(token_rules(config, {}).forbidden == std::vector<std::int32_t>{0, 3});
    CHECK(token_rules(config, {.allow_start = true}).forbidden == std::vector<std::int32_t>{0, 3});
    config.frame.bos_id = config.frame.eos_id;  // a decoder that starts from eos must still be able to end
    CHECK(token_rules(config, {}).forbidden == std::vector<std::int32_t>{0, 3});
}

TEST_CASE("a sentence with NaN is unusable, and the others of its batch continue") {
    const std::int64_t vocabulary = kFirstWord + 9;
    const auto table = random_table(3, vocabulary, -2.0F);
    const int beam = GENERATE(1, 4);
    FakeScorer scorer(3, vocabulary, [&](std::int64_t sentence, const FakeScorer::Prefix& prefix) {
        return sentence == 1 && prefix.size() == 2
                   ? std::vector<float>(static_cast<std::size_t>(vocabulary), std::numeric_limits<float>::quiet_NaN())
                   : table(sentence, prefix);
    });
    const std::vector<Hypothesis> found = run(scorer, {9, 9, 9}, {.beam = beam});
    CHECK(found[1].end == EndReason::Unusable);
    CHECK_THAT(unusable_message(found[1]),
               Catch::Matchers::Contains("NaN") && Catch::Matchers::Contains("token 3 of an output"));
    for (const std::int64_t i : {0, 2}) {
        FakeScorer alone(1, vocabulary, [&](std::int64_t, const auto& prefix) { return table(i, prefix); });
        CHECK(same(run(alone, {9}, {.beam = beam}).front(), found[static_cast<std::size_t>(i)]));
    }
}

TEST_CASE("NaN from the start is unusable, not an empty translation") {
    FakeScorer scorer(1, 8, [](std::int64_t, const FakeScorer::Prefix&) {
        return std::vector<float>(8, std::numeric_limits<float>::quiet_NaN());
    });
    const Hypothesis found = run(scorer, {5}, {}).front();
    CHECK(found.end == EndReason::Unusable);
    CHECK_THAT(unusable_message(found),
               Catch::Matchers::Contains("NaN") && Catch::Matchers::Contains("token 1 of an output"));
}

TEST_CASE("options out of range are rejected") {
    CHECK_THROWS_AS(check_search_options({.beam = 0}), Error);
    CHECK_THROWS_AS(check_search_options({.beam = 31}), Error);
    CHECK_THROWS_AS(check_search_options({.length_penalty = -10.1}), Error);
    CHECK_THROWS_AS(check_search_options({.length_penalty = std::nan("")}), Error);
    CHECK_THROWS_AS(check_search_options({.max_extra = -1}), Error);
    CHECK_NOTHROW(check_search_options({.beam = 30, .length_penalty = 0.0, .max_extra = 0}));
}

TEST_CASE("the length penalty is that of Wu et al.") {
    CHECK(length_penalty(1, 0.6) == 1.0);
    CHECK(length_penalty(7, 1.0) == 2.0);
    CHECK(length_penalty(40, 0.0) == 1.0);
    CHECK(length_penalty(19, 0.6) == Approx(std::pow(4.0, 0.6)));
}
