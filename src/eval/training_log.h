// What a training reported over its steps, for curves.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace headscope {

// What a line does not report is NaN.
struct LossPoint {
    std::int64_t step = 0;
    double loss = std::nan("");  // smoothed, per token
    double nll = std::nan("");   // per token, natural logarithm
    double learning_rate = std::nan("");
    double mean_nll = std::nan("");  // of the mean of the weights
    double bleu = std::nan("");

    // Two values that were not reported are equal.
    bool operator==(const LossPoint& other) const {
        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        return step == other.step && same(loss, other.loss) && same(nll, other.nll) &&
               same(learning_rate, other.learning_rate) && same(mean_nll, other.mean_nll) && same(bleu, other.bleu);
    }
};

struct TrainingLog {
    std::vector<LossPoint> training;    // per report
    std::vector<LossPoint> validation;  // per validation
    bool operator==(const TrainingLog&) const = default;
};

// What there is of a training by now.
struct TrainingRun : TrainingLog {
    std::vector<std::int64_t> checkpoints;  // steps, rising; a running training adds some and removes others
    bool operator==(const TrainingRun&) const = default;
};

}  // namespace headscope
