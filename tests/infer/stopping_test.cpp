// When a beam search stops, what competes at the limit, and several ends.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "fake_scorer.h"

using namespace headscope;

namespace {

constexpr std::int64_t kStopVocabulary = kFirstWord + 4;
constexpr float kHopeless = -50.0F;
using Output = std::vector<std::int32_t>;
using LogRow = std::map<std::int32_t, float>;

// Log probabilities by prefix; other tokens are as good as impossible.
FakeScorer::Table table_from(const std::map<Output, LogRow>& rows) {
    return [rows](std::int64_t, const FakeScorer::Prefix& prefix) {
        std::vector<float> next(static_cast<std::size_t>(kStopVocabulary), kHopeless);
        if (const auto row = rows.find(prefix); row != rows.end()) {
            for (const auto& [token, value] : row->second) {
                next[static_cast<std::size_t>(token)] = value;
            }
        }
        return next;
    };
}

Hypothesis searched(const std::map<Output, LogRow>& rows, std::int64_t limit, const SearchOptions& options,
                    const TokenRules& rules = fake_rules()) {
    FakeScorer scorer(1, kStopVocabulary, table_from(rows));
    return search(scorer, {limit}, kBos, rules, options).front();
}

SearchOptions two_beams(Stopping stopping, double alpha) {
    return {.beam = 2, .length_penalty = alpha, .length_penalty_form = LengthPenaltyForm::Power, .stopping = stopping};
}

// "4 </s>" has -1.2, "5 </s>" -2, and "4 4 4 4 </s>" -2.11.
const std::map<Output, LogRow> kLaterRows = {
    {{}, {{4, -1.0F}, {5, -1.0F}}},        {{4}, {{kEos, -0.2F}, {4, -0.9F}}},       {{5}, {{kEos, -1.0F}}},
    {{4, 4}, {{4, -0.1F}, {kEos, -2.0F}}}, {{4, 4, 4}, {{4, -0.1F}, {kEos, -2.0F}}}, {{4, 4, 4, 4}, {{kEos, -0.01F}}},
};

}  // namespace

TEST_CASE("at the limit a better unfinished hypothesis wins against one that ended") {
    const std::map<Output, LogRow> rows = {
        {{}, {{4, -0.5F}, {5, -0.9F}}}, {{4}, {{kEos, -3.0F}, {6, -0.1F}}}, {{5}, {{kEos, -2.0F}}},
        {{4, 6}, {{6, -0.1F}}},         {{4, 6, 6}, {{6, -0.1F}}},
    };
    const auto stopping = GENERATE(Stopping::Exact, Stopping::AtPresent, Stopping::AtLongest);
    const Hypothesis best = searched(rows, 4, two_beams(stopping, 1.0));
    CHECK(best.tokens == Output{4, 6, 6, 6});
    CHECK(best.end == EndReason::Limit);
    CHECK(best.score == Approx(-0.8 / 4.0));
}

TEST_CASE("a beam search stops as Hugging Face's") {
    // After two steps "4 </s>" has ended with -1.2 and, as the third of the continuations, "5 </s>" with -2.
    const Output first{4, kEos};
    const Output later{4, 4, 4, 4, kEos};
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::Full, 0.0)).tokens == first);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::AtPresent, 0.0)).tokens == first);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::AtLongest, 0.0)).tokens == first);
    // -1.2 / 2^2 = -0.3, and -2.11 / 5^2 = -0.08: the longer one wins, unless the search stops when two have ended, the
    // second being "4 4 </s>" with -3.9 / 3^2.
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::Full, 2.0)).tokens == first);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::AtPresent, 2.0)).tokens == later);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::AtLongest, 2.0)).tokens == later);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::Exact, 2.0)).tokens == later);
    // A negative exponent favours short outputs.
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::Exact, -1.0)).tokens == first);
    CHECK(searched(kLaterRows, 8, two_beams(Stopping::AtLongest, -1.0)).tokens == first);
}

TEST_CASE("only a bound at the longest length waits for a long output that is better") {
    // After two steps "4 </s>" and "5 </s>" have ended with -1.1 / 2^2 = -0.28. "4 4" has -3 / 2^2 at its present
    // length, but -3 / 8^2 at the longest; in the end it has -3.03 / 5^2 = -0.12.
    const std::map<Output, LogRow> rows = {
        {{}, {{4, -1.0F}, {5, -1.0F}}}, {{4}, {{kEos, -0.1F}, {4, -2.0F}}}, {{5}, {{kEos, -0.1F}}},
        {{4, 4}, {{4, -0.01F}}},        {{4, 4, 4}, {{4, -0.01F}}},         {{4, 4, 4, 4}, {{kEos, -0.01F}}},
    };
    CHECK(searched(rows, 8, two_beams(Stopping::AtPresent, 2.0)).tokens == Output{4, kEos});
    CHECK(searched(rows, 8, two_beams(Stopping::AtLongest, 2.0)).tokens == Output{4, 4, 4, 4, kEos});
}

TEST_CASE("an end counts only among the best continuations, unless the search is exact") {
    // "5 </s>" is the third continuation of the second step.
    const std::map<Output, LogRow> rows = {
        {{}, {{4, -1.0F}, {5, -1.1F}}},
        {{4}, {{kEos, -0.1F}, {6, -0.5F}}},
        {{5}, {{kEos, -0.6F}, {7, -5.0F}}},
        {{4, 6}, {{6, -9.0F}}},
        {{5, 7}, {{7, -9.0F}}},
    };
    SearchOptions options = two_beams(Stopping::Exact, 0.0);
    options.n_best = 2;
    options.n_best_duplicates = true;
    const auto second = [&](Stopping stopping) {
        options.stopping = stopping;
        FakeScorer scorer(1, kStopVocabulary, table_from(rows));
        return search_tasks(scorer, {{.limit = 5}}, kBos, fake_rules(), options).front().at(1).tokens;
    };
    CHECK(second(Stopping::Exact) == Output{5, kEos});
    CHECK(second(Stopping::AtPresent) != Output{5, kEos});
}

TEST_CASE("every end ends an output, and enough continuations stay alive") {
    TokenRules rules = fake_rules();
    rules.other_ends = {6, 7};
    const int beam = GENERATE(1, 2);
    const Hypothesis best = searched({{{}, {{4, -0.1F}}}, {{4}, {{7, -0.1F}, {6, -0.2F}, {kEos, -0.3F}, {5, -3.0F}}}},
                                     6, {.beam = beam}, rules);
    CHECK(best.tokens == Output{4, 7});
    CHECK(best.end == EndReason::EndOfSentence);
    CHECK(SentenceBeam::most_candidates({.beam = 4}, rules) == 16);
    // A minimum length forbids them all.
    const Hypothesis longer = searched({{{}, {{7, -0.1F}, {6, -0.2F}, {4, -2.0F}}}, {{4}, {{7, -0.1F}}}}, 6,
                                       {.beam = beam, .min_length = 1}, rules);
    CHECK(longer.tokens == Output{4, 7});
}

TEST_CASE("rows without a piece are never chosen, however likely") {
    TokenRules rules = fake_rules();
    rules.pieces = kFirstWord + 2;
    const int beam = GENERATE(1, 2);
    const Hypothesis best = searched({{{}, {{6, -0.1F}, {7, -0.2F}, {4, -3.0F}}}, {{4}, {{7, -0.1F}, {kEos, -1.0F}}}},
                                     6, {.beam = beam}, rules);
    CHECK(best.tokens == Output{4, kEos});
}

TEST_CASE("rows without a piece cost nothing while none of them is likely") {
    // 56 with the other tokens of a step would be more than a device ranks; 50 would not.
    const bool likely = GENERATE(false, true);
    const std::int32_t without_piece = likely ? 50 : 56;
    TokenRules rules = fake_rules();
    rules.pieces = kFirstWord + 8;
    const std::int64_t vocabulary = rules.pieces + without_piece;
    const auto table = [=](std::int64_t sentence, const FakeScorer::Prefix& prefix) {
        std::vector<float> next = random_table(7, vocabulary, 1.0F)(sentence, prefix);
        for (auto row = next.begin() + rules.pieces; row != next.end(); ++row) {
            *row += likely ? 4.0F : -20.0F;
        }
        return next;
    };
    const int beam = GENERATE(1, 4);
    const SearchOptions options{.beam = beam, .min_length = 2};
    FakeScorer scorer(2, vocabulary, table);
    const std::vector<Hypothesis> found = search(scorer, {6, 9}, kBos, rules, options);
    CHECK(scorer.whole_steps() == 0);
    // 2 * beam, the three forbidden ones and the end.
    CHECK(scorer.most_ranked() == 2 * beam + 4 + (likely ? without_piece : 0));
    // A search that forbids each of these rows finds the same.
    TokenRules listed = fake_rules();
    for (std::int32_t row = rules.pieces; row < vocabulary; ++row) {
        listed.forbidden.push_back(row);
    }
    FakeScorer other(2, vocabulary, table);
    const std::vector<Hypothesis> expected = search(other, {6, 9}, kBos, listed, options);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(found.at(i).tokens == expected[i].tokens);
        CHECK(found.at(i).score == expected[i].score);
    }
}
