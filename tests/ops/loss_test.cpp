// The smoothed loss in numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/loss.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

TEST_CASE("the smoothed loss is the cross-entropy with the smoothed target", "[loss][by_hand]") {
    // Written out for three classes: p = (1, 2, 5) / 8, target 1, epsilon 0.3.
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const Tensor logits =
        make_from_host(*oracle, {1, 3}, oracle->full_dtype(), Values{0.0, std::log(2.0), std::log(5.0)});
    const Tensor targets = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{1});
    const auto losses = [&](Smoothing smoothing) {
        const Tensor loss = oracle->empty({1}, oracle->full_dtype());
        const Tensor nll = oracle->empty({1}, oracle->full_dtype());
        oracle->run(SmoothedCrossEntropy{
            .logits = logits, .targets = targets, .loss = loss, .nll = nll, .epsilon = 0.3F, .smoothing = smoothing});
        return std::pair{to_host<double>(*oracle, loss)[0], to_host<double>(*oracle, nll)[0]};
    };
    const double a = std::log(8.0);
    const double b = std::log(8.0 / 2);
    const double c = std::log(8.0 / 5);
    const auto [all, nll] = losses(Smoothing::AllClasses);
    CHECK(nll == Approx(b).epsilon(1e-12));
    CHECK(all == Approx(0.1 * a + 0.8 * b + 0.1 * c).epsilon(1e-7));
    CHECK(losses(Smoothing::OtherClasses).first == Approx(0.15 * a + 0.7 * b + 0.15 * c).epsilon(1e-7));
}

TEST_CASE("a weight scales a row's loss, nll and gradient", "[loss][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto row = [&](double weight) {
        const DType real = oracle->full_dtype();
        const Tensor logits = make_from_host(*oracle, {1, 2}, real, Values{0.0, std::log(3.0)});  // p = 1/4, 3/4
        const Tensor loss = oracle->empty({1}, real);
        const Tensor nll = oracle->empty({1}, real);
        oracle->run(
            SmoothedCrossEntropy{.logits = logits,
                                 .targets = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{0}),
                                 .loss = loss,
                                 .nll = nll,
                                 .grad_logits = logits,
                                 .weights = make_from_host(*oracle, {1}, real, Values{weight}),
                                 .epsilon = 0.5F});
        Values all = to_host<double>(*oracle, logits);
        all.push_back(to_host<double>(*oracle, loss)[0]);
        all.push_back(to_host<double>(*oracle, nll)[0]);
        return all;
    };
    // q = 3/4, 1/4
    const Values whole{-0.5, 0.5, 0.75 * std::log(4.0) + 0.25 * std::log(4.0 / 3.0), std::log(4.0)};
    for (const double weight : {1.0, 0.0, -2.0, 0.25}) {
        const Values found = row(weight);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            CHECK(found[i] == Approx(weight * whole[i]).margin(1e-12));
        }
    }
}

TEST_CASE("smoothing of 0.1 over three classes gives the documented targets", "[loss][by_hand]") {
    // Equal logits, so that the gradient is 1/3 - q. Target 1.
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto smoothed = [&](Smoothing smoothing, const Values& prior) {
        const Tensor logits = make_from_host(*oracle, {1, 3}, oracle->full_dtype(), Values{0.0, 0.0, 0.0});
        oracle->run(SmoothedCrossEntropy{
            .logits = logits,
            .targets = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{1}),
            .loss = oracle->empty({1}, oracle->full_dtype()),
            .nll = oracle->empty({1}, oracle->full_dtype()),
            .grad_logits = logits,
            .prior = prior.empty() ? Tensor() : make_from_host(*oracle, {3}, oracle->full_dtype(), prior),
            .epsilon = 0.1F,
            .smoothing = smoothing});
        Values q = to_host<double>(*oracle, logits);
        std::transform(q.begin(), q.end(), q.begin(), [](double gradient) { return 1.0 / 3.0 - gradient; });
        return q;
    };
    const auto is = [](const Values& q, const Values& expected) {
        for (std::size_t c = 0; c < 3; ++c) {
            CHECK(q[c] == Approx(expected[c]).epsilon(1e-7));
        }
    };
    is(smoothed(Smoothing::AllClasses, {}), {0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3});  // 0.033, 0.933, 0.033
    is(smoothed(Smoothing::OtherClasses, {}), {0.05, 0.9, 0.05});
    is(smoothed(Smoothing::AllClasses, {0.5, 0.3, 0.2}), {0.05, 0.93, 0.02});
}

// q = 0.925 and 0.025 three times. Certainty costs: with probability 0.99 the others are too small for their 0.025.
TEST_CASE("with smoothing of 0.1 over four classes a probability of 0.925 costs least", "[loss][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto cost_of = [&](double probability) {
        Values logits(4, std::log((1.0 - probability) / 3.0));
        logits[0] = std::log(probability);
        const Tensor loss = oracle->empty({1}, oracle->full_dtype());
        oracle->run(
            SmoothedCrossEntropy{.logits = make_from_host(*oracle, {1, 4}, oracle->full_dtype(), logits),
                                 .targets = make_from_host(*oracle, {1}, DType::I32, std::vector<std::int32_t>{0}),
                                 .loss = loss,
                                 .nll = oracle->empty({1}, oracle->full_dtype()),
                                 .epsilon = 0.1F});
        return to_host<double>(*oracle, loss)[0];
    };
    CHECK(cost_of(0.25) == Approx(std::log(4.0)));
    CHECK(cost_of(0.7) == Approx(0.502618).epsilon(1e-5));    // 0.925 * 0.3567 + 0.075 * 2.3026
    CHECK(cost_of(0.925) == Approx(0.348778).epsilon(1e-5));  // 0.925 * 0.0780 + 0.075 * 3.6889
    CHECK(cost_of(0.99) == Approx(0.437080).epsilon(1e-5));   // 0.925 * 0.0101 + 0.075 * 5.7038
}
