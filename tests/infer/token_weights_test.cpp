// Options that change how likely tokens are, against values by hand, and tokens that they forbid.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "infer/forbidden_tokens.h"
#include "infer/next_tokens.h"
#include "infer/token_weights.h"

using namespace headscope;

namespace {

using TokenIds = std::vector<std::int32_t>;

const TokenRules kTwoEnds{.eos = 1, .forbidden = {}, .other_ends = {2}, .start = 0};
// Logits 2, 1, 0, -1, whose log-sum-exp is 2.4402.
const std::vector<float> kFourLogits{2.0F, 1.0F, 0.0F, -1.0F};

std::vector<double> weighed_row(const SearchOptions& options, const TokenIds& tokens = {},
                                const TokenIds& forbidden = {}, const SearchTask& task = {.source = {2, 2, 9}}) {
    std::vector<float> logs = kFourLogits;
    const double log_sum = log_softmax(std::span<float>(logs));
    std::vector<double> scores = weighed_tokens(logs, log_sum, options, kTwoEnds, task, tokens, forbidden);
    for (double& score : scores) {
        score += options.beam == 1 ? log_sum : 0.0;  // greedy search changes logits
    }
    return scores;
}

void check_row(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]).margin(1e-5));
    }
}

}  // namespace

TEST_CASE("penalties of repetitions divide scores above 0 and multiply those below") {
    SearchOptions options{.beam = 1, .repetition_penalty = 2.0};
    check_row(weighed_row(options, {3, 3}), {1.0, 1.0, 0.0, -2.0});  // the start is 0
    check_row(weighed_row(options, {3}, {}, {.prompt = {1}}), {2.0, 0.5, 0.0, -2.0});
    options.beam = 4;  // log probabilities: -0.4402, -1.4402, -2.4402, -3.4402
    check_row(weighed_row(options, {3}), {-0.88038, -1.44019, -2.44019, -6.88038});
    options = {.beam = 4, .source_repetition_penalty = 2.0};  // the source's; it may have more pieces
    check_row(weighed_row(options), {-0.44019, -1.44019, -1.22010, -3.44019});
}

TEST_CASE("biases are added where their sequence would be completed") {
    const SearchOptions options{.beam = 1, .sequence_bias = {{{3}, 5.0}, {{0, 2}, 1.5}, {{3, 1}, -4.0}}};
    check_row(weighed_row(options), {2.0, 1.0, 1.5, 4.0});  // behind the start
    check_row(weighed_row(options, {3}), {2.0, -3.0, 0.0, 4.0});
}

TEST_CASE("the ends grow behind a length") {
    const SearchOptions options{.beam = 1, .end_growth = EndGrowth{1, 3.0}};
    check_row(weighed_row(options, {3}), {2.0, 1.0, 0.0, -1.0});
    check_row(weighed_row(options, {3, 3}), {2.0, 3.0, 0.0, -1.0});
    check_row(weighed_row(options, {3, 3, 3}), {2.0, 9.0, 0.0, -1.0});
    CHECK(weighed_row(options, {3, 3}, {1})[1] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("forbidden tokens leave the softmax of a beam search if that is asked for") {
    SearchOptions options{.beam = 2, .renormalize = true};
    const std::vector<double> scores = weighed_row(options, {}, {0});
    CHECK(scores[0] == -std::numeric_limits<double>::infinity());
    CHECK(std::exp(scores[1]) + std::exp(scores[2]) + std::exp(scores[3]) == Approx(1.0));
    CHECK(weighs_tokens(options, 1));
    CHECK_FALSE(weighs_tokens(options, 0));
    options.beam = 1;  // it changes no order
    CHECK_FALSE(weighs_tokens(options, 1));
    CHECK_FALSE(weighs_tokens(SearchOptions{}, 3));
}

TEST_CASE("options forbid tokens") {
    const SearchTask task{.limit = 9, .given = 1, .source = {5, 6, 7, 5, 8}};
    const auto forbidden = [&](SearchOptions options, const TokenIds& tokens) {
        options.min_length = 0;
        return forbidden_after(options, kTwoEnds, task, tokens);
    };
    CHECK(forbidden({.no_repeat_ngram = 2}, {5, 6, 0}) == TokenIds{5});  // as after the start
    CHECK(forbidden({.no_source_ngram = 2}, {5}) == TokenIds{6, 8});
    CHECK(forbidden({.no_source_ngram = 1}, {}) == TokenIds{5, 6, 7, 8});
    CHECK(forbidden({.bad_first = {4, 6}}, {}).empty());
    CHECK(forbidden({.bad_first = {4, 6}}, {3}) == TokenIds{4, 6});  // behind the given token
    CHECK(forbidden({.bad_first = {4, 6}}, {3, 3}).empty());
    CHECK(forbidden({.min_total = 2}, {3}) == TokenIds{1, 2});
    CHECK(forbidden({.min_total = 2}, {3, 3}).empty());
    CHECK(forbidden_after({.min_length = 0, .min_total = 3}, kTwoEnds, {.limit = 9, .prompt = {3, 3}}, {3}).empty());
    CHECK(forbidden_after({.min_length = 2}, kTwoEnds, task, {3, 3}) == TokenIds{1, 2});
}
