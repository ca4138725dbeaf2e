// Weight statistics, computed by hand and of a whole model.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "explore/weight_statistics.h"
#include "tests/explore/tiny_explorer.h"

using namespace headscope;

TEST_CASE("Statistics of four weights, by hand", "[weights]") {
    const WeightStatistics weights = statistics_of("w", {2, 2}, {-2.0F, 0.0F, 1.0F, 1.0F});
    CHECK(weights.mean == Approx(0.0).margin(1e-12));
    CHECK(weights.deviation == Approx(std::sqrt(1.5)));
    CHECK(weights.least == -2.0);
    CHECK(weights.greatest == 1.0);
    CHECK(weights.limit == 2.0);
    CHECK(weights.counts.front() == 1);
    CHECK(weights.counts[20] == 1);  // the middle of 41
    CHECK(weights.counts[30] == 2);
    CHECK(weights.counts.back() == 0);
}

TEST_CASE("Non-finite weights are counted separately, and there may be only those", "[weights]") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const WeightStatistics weights = statistics_of("w", {3}, {nan, 3.0F, std::numeric_limits<float>::infinity()});
    CHECK(weights.not_finite == 2);
    CHECK(weights.mean == 3.0);
    CHECK(weights.deviation == 0.0);
    CHECK(weights.counts.back() == 1);
    CHECK(statistics_of("w", {1}, {nan}).not_finite == 1);
    CHECK(statistics_of("w", {2}, {0.0F, 0.0F}).counts[20] == 2);
}

TEST_CASE("A part of a model is selected by the prefix of its parameters' names", "[weights]") {
    const TinyExplorer tiny;
    const auto norm = weight_statistics(tiny.translator.parameters(), "encoder.layers.1.feed_forward.norm.");
    REQUIRE(norm.size() == 2);
    CHECK(norm[0].name == "encoder.layers.1.feed_forward.norm.gain");
    CHECK(norm[0].mean == 1.0);  // as it starts
    CHECK(norm[0].shape == Shape{32});
    CHECK(weight_statistics(tiny.translator.parameters(), "nothing").empty());
    CHECK(weight_statistics(tiny.translator.parameters(), "").size() == tiny.translator.parameters().table().size());
}
