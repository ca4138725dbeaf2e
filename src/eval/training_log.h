// Losses reported during training, for plots.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "eval/training_measures.h"

namespace headscope {

// Unreported values are NaN.
struct LossPoint {
    std::int64_t step = 0;
    double loss = std::nan("");  // smoothed, per token
    double nll = std::nan("");   // per token, natural logarithm
    double learning_rate = std::nan("");
    double mean_nll = std::nan("");  // of the averaged weights
    double bleu = std::nan("");
    double tokens_per_second = std::nan("");  // target tokens, since the report before
    Measures measures = {};                   // those of kTrainingMeasures that were reported

    // Two unreported values are equal.
    bool operator==(const LossPoint& other) const {
        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        return step == other.step && same(loss, other.loss) && same(nll, other.nll) &&
               same(learning_rate, other.learning_rate) && same(mean_nll, other.mean_nll) && same(bleu, other.bleu) &&
               same(tokens_per_second, other.tokens_per_second) && measures == other.measures;
    }
};

struct TrainingLog {
    std::vector<LossPoint> training;    // per report
    std::vector<LossPoint> validation;  // per validation
    bool operator==(const TrainingLog&) const = default;
};

// The current state of a training run.
struct TrainingRun : TrainingLog {
    std::vector<std::int64_t> checkpoints;  // steps, ascending; a running training adds and removes some
    bool operator==(const TrainingRun&) const = default;
};

}  // namespace headscope
