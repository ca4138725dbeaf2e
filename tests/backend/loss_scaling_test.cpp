#include "backend/loss_scaling.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace headscope;

namespace {

constexpr LossScaling kRule{.growth_interval = 3, .least = 2.0F, .most = 64.0F};

// Finite ('+') and non-finite ('-') steps, and the scale after each.
std::vector<float> scales_of(const std::string& steps, LossScaleState<float> state, const LossScaling& rule) {
    std::vector<float> scales;
    for (const char step : steps) {
        state = next_loss_scale(state, step == '+', rule);
        scales.push_back(state.scale);
    }
    return scales;
}

using Scales = std::vector<float>;

}  // namespace

TEST_CASE("the loss scale doubles after N good steps in a row, and halves at each bad one", "[loss_scaling]") {
    CHECK(scales_of("++++++", {8, 0}, kRule) == Scales{8, 8, 16, 16, 16, 32});
    CHECK(scales_of("++-+++", {8, 0}, kRule) == Scales{8, 8, 4, 4, 4, 8});  // the count restarts
    CHECK(scales_of("--", {8, 2}, kRule) == Scales{4, 2});
    CHECK(scales_of("++-", {8, 1}, {.growth_interval = 3, .growth = 4.0F, .backoff = 0.25F}) == Scales{8, 32, 8});
}

TEST_CASE("the loss scale stays within its bounds", "[loss_scaling]") {
    CHECK(scales_of("---", {8, 0}, kRule) == Scales{4, 2, 2});
    CHECK(scales_of("+++", {64, 2}, kRule) == Scales{64, 64, 64});
    CHECK(scales_of("+", {48, 2}, kRule) == Scales{64});
    CHECK(scales_of("-", {3, 2}, kRule) == Scales{2});
}

TEST_CASE("without an interval the loss scale never changes", "[loss_scaling]") {
    CHECK(scales_of("++-++", {8, 5}, {}) == Scales{8, 8, 8, 8, 8});
    constexpr LossScaleState<double> kState =
        next_loss_scale<double>({8, 5}, false, {});  // usable in a device's kernel
    CHECK(kState.good_steps == 5);
}
