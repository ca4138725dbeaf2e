// The detection of divergence. return_test.cpp has whole runs.
#include "train/divergence_guard.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

void feed(DivergenceGuard& guard, double nll, int steps) {
    for (int i = 0; i < steps; ++i) {
        guard.add(nll);
    }
}

}  // namespace

TEST_CASE("a loss that stays far above its lowest is a divergence, a bad batch is not", "[guard]") {
    DivergenceGuard guard({.margin = 1.0, .steps = 10});
    feed(guard, 4.0, 50);
    CHECK(guard.healthy());
    guard.add(12.0);  // a 20th of the mean
    CHECK(guard.healthy());
    feed(guard, 4.0, 100);
    feed(guard, 7.0, 5);  // 4 + 3 * (1 - 0.95^5) = 4.68
    CHECK(!guard.healthy());
    CHECK(!guard.diverged());
    feed(guard, 7.0, 11);  // above 5 from the 8th on
    CHECK(!guard.diverged());
    feed(guard, 7.0, 1);
    CHECK(guard.diverged());
    feed(guard, 4.0, 500);
    CHECK(guard.diverged());
}

TEST_CASE("a loss that falls, rises slowly or recovers from a first bad batch is not a divergence", "[guard]") {
    DivergenceGuard guard({.margin = 0.5, .steps = 3});
    guard.add(0.5);  // a random low loss
    feed(guard, 9.0, 18);
    for (double nll = 9.0; nll > 2.0; nll -= 0.01) {
        guard.add(nll);
    }
    feed(guard, 2.3, 1000);
    CHECK(!guard.diverged());
    DivergenceGuard off({.margin = 0.0, .steps = 1});
    feed(off, 1.0, 30);
    feed(off, 50.0, 1000);
    CHECK(!off.diverged());
    CHECK(off.healthy());
}

TEST_CASE("a validation that is not finite is a divergence", "[guard]") {
    DivergenceGuard guard({});
    guard.add_validation(3.0);
    CHECK(!guard.diverged());
    guard.add_validation(std::nan(""));
    CHECK(guard.diverged());
}

TEST_CASE("a return restores the earlier state and lowers the rate each time", "[guard]") {
    DivergenceGuard guard({.returns = 2, .rate_factor = 0.5, .margin = 1.0, .steps = 2});
    feed(guard, 3.0, 30);
    const GuardState then = guard.state();
    feed(guard, 9.0, 30);
    REQUIRE(guard.diverged());
    CHECK(guard.may_return());
    guard.go_back(then);
    CHECK(!guard.diverged());
    CHECK(guard.state().mean == then.mean);
    CHECK(guard.state().rate_factor == 0.5);
    guard.go_back(then);
    CHECK(guard.state().rate_factor == 0.25);
    CHECK(!guard.may_return());
    CHECK(parse_guard_state(to_json(guard.state())) == guard.state());
    nlohmann::json damaged = to_json(guard.state());
    damaged["rate_factor"] = 0.0;
    CHECK_THAT(error_of([&] { parse_guard_state(damaged); }), Catch::Contains("\"rate_factor\" is 0.0"));
}
