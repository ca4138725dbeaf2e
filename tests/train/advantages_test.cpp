// The arithmetic of reinforcement learning, against values by hand and differences.
#include "train/advantages.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace headscope;

namespace {

std::vector<double> approximate(const std::vector<double>& numbers) {
    std::vector<double> rounded;
    for (const double number : numbers) {
        rounded.push_back(std::round(number * 1e9) / 1e9);
    }
    return rounded;
}

}  // namespace

TEST_CASE("generalised advantages are sums of discounted differences", "[advantages]") {
    const std::vector<double> rewards{0.0, 0.0, 1.0};
    const std::vector<double> values{0.5, 0.4, 0.3};
    const TokenAdvantages plain = generalised_advantages(rewards, values, 1.0, 1.0);
    CHECK(approximate(plain.advantages) == std::vector<double>{0.5, 0.6, 0.7});
    CHECK(approximate(plain.returns) == std::vector<double>{1.0, 1.0, 1.0});
    const TokenAdvantages discounted = generalised_advantages(rewards, values, 0.9, 0.5);
    CHECK(approximate(discounted.advantages) == std::vector<double>{-0.05675, 0.185, 0.7});
    CHECK(approximate(discounted.returns) == std::vector<double>{0.44325, 0.585, 1.0});
    CHECK(generalised_advantages(rewards, values, 0.9, 0.0).advantages[0] == Approx(0.9 * 0.4 - 0.5));
    CHECK(generalised_advantages({}, {}, 1.0, 1.0).advantages.empty());
}

TEST_CASE("a response is compared with the others to its prompt", "[advantages]") {
    CHECK(leave_one_out(std::vector<double>{1.0, 2.0, 6.0, 5.0, 5.0, 5.0}, 3) ==
          std::vector<double>{-3.0, -1.5, 4.5, 0.0, 0.0, 0.0});
}

TEST_CASE("whitened numbers have mean 0 and variance 1 over lists of any length", "[advantages]") {
    std::vector<std::vector<double>> numbers{{1.0, 2.0}, {}, {3.0, 4.0, 5.0}};
    whiten(numbers);
    CHECK(numbers[2][0] == 0.0);
    CHECK(numbers[0][0] == Approx(-std::sqrt(2.0)));
    CHECK(numbers[2][2] == Approx(std::sqrt(2.0)));
    std::vector<std::vector<double>> equal{{7.0}, {7.0, 7.0}};
    whiten(equal);
    CHECK(equal == std::vector<std::vector<double>>{{0.0}, {0.0, 0.0}});
}

TEST_CASE("clipped losses have the derivatives of their differences", "[advantages]") {
    constexpr double kStep = 1e-6;
    for (const double advantage : {-1.5, 0.7}) {
        for (const double change : {-0.5, -0.1, 0.0, 0.1, 0.5}) {
            INFO(advantage << " " << change);
            const double nll = 2.0 - change;  // the ratio is exp(change)
            const ClippedLoss found = policy_loss(nll, 2.0, advantage, 0.2);
            const double difference =
                policy_loss(nll + kStep, 2.0, advantage, 0.2).loss - policy_loss(nll - kStep, 2.0, advantage, 0.2).loss;
            CHECK(found.gradient == Approx(difference / (2.0 * kStep)).margin(1e-6));
            CHECK(found.clipped == ((advantage > 0.0 && change == 0.5) || (advantage < 0.0 && change == -0.5)));
        }
    }
    CHECK(policy_loss(2.0, 2.0, 0.7, 0.2).gradient == Approx(0.7));
    CHECK(policy_loss(1.5, 2.0, 0.7, 0.2).loss == Approx(-1.2 * 0.7));
    CHECK(policy_loss(1.5, 2.0, -0.7, 0.2).loss == Approx(std::exp(0.5) * 0.7));
    for (const double result : {0.0, 0.95, 1.4, 2.0}) {
        for (const double value : {0.5, 0.9, 1.0, 1.1, 1.5}) {
            INFO(result << " " << value);
            const ClippedLoss found = value_loss(value, 1.0, result, 0.2);
            const double difference =
                value_loss(value + kStep, 1.0, result, 0.2).loss - value_loss(value - kStep, 1.0, result, 0.2).loss;
            CHECK(found.gradient == Approx(difference / (2.0 * kStep)).margin(1e-6));
        }
    }
    CHECK(value_loss(1.5, 1.0, 2.0, 0.2).clipped);
    CHECK(value_loss(1.5, 1.0, 2.0, 0.2).loss == Approx(0.5 * 0.8 * 0.8));
    CHECK(value_loss(1.5, 1.0, 0.0, 0.2).loss == Approx(0.5 * 1.5 * 1.5));
}

TEST_CASE("the weight of the divergence follows its target", "[advantages]") {
    CHECK(adapted_weight(0.1, 6.0, 6.0) == Approx(0.1));
    CHECK(adapted_weight(0.1, 6.6, 6.0) == Approx(0.101));
    CHECK(adapted_weight(0.1, 60.0, 6.0) == Approx(0.102));
    CHECK(adapted_weight(0.1, 0.0, 6.0) == Approx(0.098));
}
