// What log.jsonl says of a training, read back for curves.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
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
    // One that was not reported is equal to another such.
    bool operator==(const LossPoint& other) const;
};

struct TrainingLog {
    std::vector<LossPoint> training;    // per report
    std::vector<LossPoint> validation;  // per validation
    bool operator==(const TrainingLog&) const = default;
};

// Lines that are not whole are passed over, since the last may be being written; without a file there are no points.
TrainingLog read_training_log(const std::string& path);
// Error for a file whose first line is whole and no log's.
void require_training_log(const std::string& path);

}  // namespace headscope
