#include "train/schedule.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace headscope;

TEST_CASE("equation 3: the base model's rate rises to its peak at the warm-up's end, then falls", "[schedule]") {
    const Schedule paper;  // d_model 512, warm-up 4000
    // 512^-0.5 * min(step^-0.5, step * 4000^-1.5)
    CHECK(paper(1) == Approx(1.746928107e-7).epsilon(1e-9));
    CHECK(paper(2000) == Approx(2000 * 1.746928107e-7).epsilon(1e-9));
    CHECK(paper(4000) == Approx(6.987712430e-4).epsilon(1e-9));
    CHECK(paper(16000) == Approx(0.5 * 6.987712430e-4).epsilon(1e-9));
    CHECK(paper(3999) < paper(4000));
    CHECK(paper(4001) < paper(4000));
}

TEST_CASE("the scale multiplies equation 3", "[schedule]") {
    const Schedule plain{.d_model = 256, .warmup_steps = 100};
    const Schedule scaled{.d_model = 256, .warmup_steps = 100, .scale = 2.5};
    for (const std::int64_t step : {1, 50, 100, 1000}) {
        CHECK(scaled(step) == Approx(2.5 * plain(step)));
    }
}

TEST_CASE("a cool-down changes only the last steps, and the last step still has a positive rate", "[schedule]") {
    const Schedule plain{.d_model = 256, .warmup_steps = 10};
    const Schedule cooled{.d_model = 256, .warmup_steps = 10, .cooldown_steps = 100, .total_steps = 1000};
    CHECK(cooled(901) == Approx(plain(901)));
    CHECK(cooled(951) == Approx(0.5 * plain(951)));
    CHECK(cooled(1000) == Approx(0.01 * plain(1000)));
    CHECK(cooled(1001) == 0.0);
}

TEST_CASE("a training that ends in its warm-up is reported with both numbers", "[schedule]") {
    CHECK_THAT(ends_in_warmup(60.0, 354), Catch::Matchers::Contains("about 60 steps in total") &&
                                              Catch::Matchers::Contains("the first 354 (\"warmup_steps\")") &&
                                              Catch::Matchers::Contains("--batch"));
    CHECK(ends_in_warmup(354.0, 354).empty());
    CHECK(ends_in_warmup(std::numeric_limits<double>::infinity(), 4000).empty());
}
