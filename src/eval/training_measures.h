// What trainings measure beside their loss, by the keys of log.jsonl. A measure of a new task is a row here.
#pragma once

#include <array>
#include <map>
#include <string>

namespace headscope {

struct TrainingMeasure {
    const char* key;    // in log.jsonl
    const char* title;  // of its chart
    const char* unit;   // may be empty
};

// In the order of charts. The first one that a training has stands for it in tables.
inline constexpr std::array kTrainingMeasures{
    TrainingMeasure{"reward", "Reward", "mean of the responses"},
    TrainingMeasure{"kl", "KL divergence", "from the reference, nats per response"},
    TrainingMeasure{"kl_k3", "KL divergence, k3", "never negative, nats per response"},
    TrainingMeasure{"clipped", "Clipped", "share of tokens"},
    TrainingMeasure{"length", "Length", "tokens per response"},
    TrainingMeasure{"distinct", "Distinct responses", "share of responses"},
    TrainingMeasure{"accuracy", "Accuracy", "share of pairs or texts"},
    TrainingMeasure{"mse", "Mean squared error", ""},
    TrainingMeasure{"margin", "Margin", "of better to worse responses"},
    TrainingMeasure{"better_reward", "Reward of better responses", ""},
    TrainingMeasure{"worse_reward", "Reward of worse responses", ""},
    TrainingMeasure{"better_log_probability", "Better responses", "log-probability"},
    TrainingMeasure{"worse_log_probability", "Worse responses", "log-probability"},
    TrainingMeasure{"kl_weight", "Weight of the KL divergence", ""},
    TrainingMeasure{"cut", "Cut responses", "share that reached the longest length"},
    TrainingMeasure{"moved", "Moved in a rollout", "KL divergence, nats per token"},
    TrainingMeasure{"value_loss", "Loss of the values", "mean of tokens"},
};

using Measures = std::map<std::string, double>;  // by key

// The key of the measure that stands for the others, of which there is one at least.
inline std::string first_measure(const Measures& measures) {
    for (const TrainingMeasure& row : kTrainingMeasures) {
        if (measures.contains(row.key)) {
            return row.key;
        }
    }
    return measures.begin()->first;
}

}  // namespace headscope
