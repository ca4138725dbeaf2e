#include "eval/forced_statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/check.h"

using namespace headscope;

namespace {

// A token with probability `own`; the likeliest has probability `best`.
ForcedToken token(double own, double best) {
    return {std::log(own), std::log(best), own == best};
}

}  // namespace

TEST_CASE("perplexity is the geometric mean of one over the tokens' probabilities") {
    ForcedStatistics statistics;
    CHECK(statistics.perplexity() == 1.0);
    statistics.add(token(0.5, 0.5));
    statistics.add(token(0.125, 0.6));
    CHECK(statistics.tokens() == 2);
    CHECK(statistics.nll() == Approx(std::log(4.0)));
    CHECK(statistics.perplexity() == Approx(4.0));
}

TEST_CASE("a calibrated model has no calibration error") {
    ForcedStatistics statistics;
    for (int i = 0; i < 10; ++i) {
        statistics.add(i < 7 ? token(0.7, 0.7) : token(0.1, 0.7));
    }
    CHECK(statistics.accuracy() == Approx(0.7));
    CHECK(statistics.confidence() == Approx(0.7));
    CHECK(statistics.expected_calibration_error() == Approx(0.0).margin(1e-12));
}

TEST_CASE("the calibration error is that of each bin, weighted by its tokens") {
    ForcedStatistics statistics;
    // Confidence 0.95 and half right: 4 tokens, gap 0.45. Confidence 0.5 and always right: 2 tokens, gap 0.5.
    for (const bool right : {true, false, true, false}) {
        statistics.add(right ? token(0.95, 0.95) : token(0.01, 0.95));
    }
    statistics.add(token(0.5, 0.5));
    statistics.add(token(0.5, 0.5));
    CHECK(statistics.expected_calibration_error() == Approx((4 * 0.45 + 2 * 0.5) / 6.0));
    // Overconfidence and underconfidence would cancel out over all tokens.
    CHECK(std::abs(statistics.accuracy() - statistics.confidence()) < 0.14);
    CHECK(statistics.bins()[14].tokens == 4);
    CHECK(statistics.bins()[14].accuracy() == Approx(0.5));
    CHECK(statistics.bins()[7].tokens == 2);
    CHECK(statistics.bins()[7].confidence() == Approx(0.5));
}

TEST_CASE("the logit gap is the mean of the tokens'") {
    ForcedStatistics statistics;
    CHECK(statistics.logit_gap() == 0.0);
    for (const double gap : {8.0, 3.0}) {
        ForcedToken one = token(0.5, 0.5);
        one.logit_gap = gap;
        statistics.add(one);
    }
    CHECK(statistics.logit_gap() == Approx(5.5));
}

TEST_CASE("a bin includes its upper bound, and the first bin also 0") {
    const auto bin_of = [](double confidence) {
        ForcedStatistics statistics;
        statistics.add({-1.0, std::log(confidence), false});
        std::size_t bin = 0;
        while (statistics.bins()[bin].tokens == 0) {
            ++bin;
        }
        return bin;
    };
    CHECK(bin_of(1.0) == 14);
    CHECK(bin_of(0.94) == 14);
    CHECK(bin_of(0.93) == 13);
    CHECK(bin_of(0.0668) == 1);
    CHECK(bin_of(0.0666) == 0);
    CHECK(bin_of(1e-30) == 0);
}

TEST_CASE("a token without a probability is an error") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(ForcedStatistics().add({nan, -1.0, false}), Error);
    CHECK_THROWS_AS(ForcedStatistics().add({-1.0, nan, false}), Error);
    CHECK_THROWS_AS(ForcedStatistics().add({-std::numeric_limits<double>::infinity(), -1.0, false}), Error);
}
