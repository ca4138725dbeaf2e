#include "eval/agreement.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace headscope;

namespace {

using Tokens = std::vector<std::int32_t>;

Divergence divergence_of(const Tokens& first, const Tokens& second) {
    const auto found = find_divergence(first, second);
    REQUIRE(found);
    return *found;
}

}  // namespace

TEST_CASE("equal outputs do not diverge") {
    CHECK_FALSE(find_divergence(Tokens{5, 6, 2}, Tokens{5, 6, 2}));
    CHECK_FALSE(find_divergence(Tokens{}, Tokens{}));
}

TEST_CASE("outputs diverge at the first different token") {
    const Divergence middle = divergence_of({5, 6, 7, 2}, {5, 8, 7, 2});
    CHECK(middle.position == 1);
    CHECK(middle.candidates[0] == 6);
    CHECK(middle.candidates[1] == 8);
    const Divergence first = divergence_of({2}, {5, 2});
    CHECK(first.position == 0);
    CHECK(first.candidates[0] == 2);
    CHECK(first.candidates[1] == 5);
}

TEST_CASE("a longer output diverges where the other ends, without a second candidate") {
    const Divergence longer = divergence_of({5, 6}, {5});
    CHECK(longer.position == 1);
    CHECK(longer.candidates[0] == 6);
    CHECK_FALSE(longer.candidates[1]);
    const Divergence shorter = divergence_of({5}, {5, 6});
    CHECK_FALSE(shorter.candidates[0]);
    CHECK(shorter.candidates[1] == 6);
    CHECK(std::isinf(score_gap(longer, {CandidateScores{-1.0, -1.0}, CandidateScores{-1.0, -1.0}})));
}

TEST_CASE("the gap is the larger one of both devices") {
    const Divergence divergence = divergence_of({5}, {6});
    CHECK(score_gap(divergence, {CandidateScores{-1.0, -1.25}, CandidateScores{-1.5, -1.0}}) == 0.5);
    CHECK(score_gap(divergence, {CandidateScores{-1.0, -1.75}, CandidateScores{-1.5, -1.0}}) == 0.75);
    CHECK(score_gap(divergence, {CandidateScores{-1.0, -1.0}, CandidateScores{-7.0, -7.0}}) == 0.0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isinf(score_gap(divergence, {CandidateScores{-1.0, -1.0}, CandidateScores{nan, -1.0}})));
}

TEST_CASE("agreement holds if every difference is a tie") {
    Agreement agreement;
    CHECK(agreement.holds(0.0));
    agreement.add_identical(-3.0, -3.25);
    agreement.add_identical(-1.5, -1.375);
    CHECK(agreement.score_drift == 0.25);
    const auto differ = [&](double gap) { agreement.differences.push_back({0, {}, {}, gap}); };
    differ(1e-5);
    CHECK(agreement.sentences() == 3);
    CHECK(agreement.identical == 2);
    CHECK(agreement.holds(1e-4));
    CHECK(agreement.holds(1e-5));
    CHECK_FALSE(agreement.holds(1e-6));
    differ(0.5);
    CHECK(agreement.ties(1e-4) == 1);
    CHECK_FALSE(agreement.holds(1e-4));
}

TEST_CASE("a NaN score is an infinite drift") {
    Agreement agreement;
    agreement.add_identical(-1.0, std::numeric_limits<double>::quiet_NaN());
    agreement.add_identical(-1.0, -1.0);
    CHECK(std::isinf(agreement.score_drift));
}
