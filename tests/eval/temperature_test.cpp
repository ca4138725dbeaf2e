#include "eval/temperature.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "infer/next_tokens.h"

using namespace headscope;

namespace {

constexpr int kRows = 60;
constexpr int kClasses = 7;

// The mean loss of logits 'scale * sin(1.7 row + 2.3 class^2)' at a temperature, where the likeliest class is right in
// three of five rows.
double loss_at(double scale, double temperature) {
    double loss = 0.0;
    for (int row = 0; row < kRows; ++row) {
        std::vector<double> logits;
        for (int c = 0; c < kClasses; ++c) {
            logits.push_back(scale * std::sin(1.7 * row + 2.3 * c * c));
        }
        const auto best = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        const int right = row % 5 < 3 ? best : (best + 1 + row) % kClasses;
        for (double& logit : logits) {
            logit /= temperature;
        }
        log_softmax(std::span(logits));
        loss -= logits[static_cast<std::size_t>(right)] / kRows;
    }
    return loss;
}

}  // namespace

// The expected temperatures were found by scipy.optimize.minimize_scalar 1.17 over SciPy's log_softmax.
TEST_CASE("the temperature with the lowest loss is found in a few passes", "[temperature]") {
    for (const auto& [scale, expected] : {std::pair{0.5, 0.30200558789932724}, {4.0, 2.4160446294809077}}) {
        CAPTURE(scale);
        int passes = 0;
        const double found = fit_temperature([&, scale = scale](double temperature) {
            ++passes;
            return loss_at(scale, temperature);
        });
        CHECK(found == Approx(expected).epsilon(2e-3));
        CHECK(passes <= 16);
    }
}

TEST_CASE("a loss without a minimum between the limits gives the nearer limit", "[temperature]") {
    CHECK(fit_temperature([](double t) { return loss_at(100.0, t); }) == Approx(kMostTemperature).epsilon(5e-3));
    CHECK(fit_temperature([](double t) { return loss_at(0.1, t); }) == Approx(kLeastTemperature).epsilon(5e-3));
    CHECK(fit_temperature([](double t) { return t; }) == Approx(kLeastTemperature).epsilon(5e-3));
}
