#include "train/advantages.h"

#include <algorithm>
#include <cmath>

#include "support/check.h"

namespace headscope {

TokenAdvantages generalised_advantages(std::span<const double> rewards, std::span<const double> values, double gamma,
                                       double lambda) {
    HEADSCOPE_CHECK(rewards.size() == values.size(), "each token has a reward and a value");
    TokenAdvantages found{std::vector<double>(rewards.size()), std::vector<double>(rewards.size())};
    double next_value = 0.0;
    double next_advantage = 0.0;
    for (std::size_t t = rewards.size(); t-- > 0;) {
        next_advantage = rewards[t] + gamma * next_value - values[t] + gamma * lambda * next_advantage;
        next_value = values[t];
        found.advantages[t] = next_advantage;
        found.returns[t] = next_advantage + values[t];
    }
    return found;
}

std::vector<double> leave_one_out(std::span<const double> rewards, std::size_t group) {
    HEADSCOPE_CHECK(group >= 2 && rewards.size() % group == 0, "each prompt has as many responses");
    std::vector<double> advantages(rewards.size());
    for (std::size_t first = 0; first < rewards.size(); first += group) {
        double sum = 0.0;
        for (std::size_t i = first; i < first + group; ++i) {
            sum += rewards[i];
        }
        for (std::size_t i = first; i < first + group; ++i) {
            advantages[i] = rewards[i] - (sum - rewards[i]) / static_cast<double>(group - 1);
        }
    }
    return advantages;
}

void whiten(std::span<std::vector<double>> numbers) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const std::vector<double>& list : numbers) {
        for (const double number : list) {
            sum += number;
        }
        count += list.size();
    }
    const double mean = sum / static_cast<double>(std::max<std::size_t>(count, 1));
    double squares = 0.0;
    for (const std::vector<double>& list : numbers) {
        for (const double number : list) {
            squares += (number - mean) * (number - mean);
        }
    }
    const double deviation = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1)));
    const double scale = deviation > 1e-8 ? 1.0 / deviation : 0.0;
    for (std::vector<double>& list : numbers) {
        for (double& number : list) {
            number = (number - mean) * scale;
        }
    }
}

ClippedLoss policy_loss(double nll, double old_nll, double advantage, double clip) {
    const double ratio = std::exp(old_nll - nll);
    const double plain = ratio * advantage;
    const double held = std::clamp(ratio, 1.0 - clip, 1.0 + clip) * advantage;
    // d ratio / d nll = -ratio, and the loss is what is lost, so that the signs cancel.
    return held < plain ? ClippedLoss{-held, 0.0, true} : ClippedLoss{-plain, plain, false};
}

ClippedLoss value_loss(double value, double old_value, double result, double clip) {
    const double held = std::clamp(value, old_value - clip, old_value + clip);
    const double plain_error = value - result;
    const double held_error = held - result;
    const bool clipped = held != value && held_error * held_error >= plain_error * plain_error;
    return clipped ? ClippedLoss{0.5 * held_error * held_error, 0.0, true}
                   : ClippedLoss{0.5 * plain_error * plain_error, plain_error, false};
}

double adapted_weight(double weight, double divergence, double target) {
    constexpr double kLargest = 0.2;  // of the error, in shares of the target
    constexpr double kShare = 0.1;    // of the error
    return weight * (1.0 + kShare * std::clamp(divergence / target - 1.0, -kLargest, kLargest));
}

}  // namespace headscope
