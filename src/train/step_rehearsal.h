// Training steps that lead nowhere, to learn what they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/backend.h"
#include "data/batch.h"
#include "model/parameters.h"
#include "model/transformer.h"
#include "train/optimizer.h"
#include "train/train_config.h"
#include "train/training_pass.h"
#include "train/weight_mean.h"

namespace headscope {

class StepRehearsal {
public:
    // All that a training of this configuration keeps on the device.
    StepRehearsal(Backend& backend, const TrainConfig& config, const ModelConfig& model, const Arithmetic& arithmetic);

    // A whole step over these parts, after which the weights are worth nothing. Returns its seconds.
    double run(const std::vector<Batch>& parts);
    // What a step over `tokens` padded tokens of each side takes at the most, beside what is kept: all its sentences
    // are as long as the configuration lets them be. nullopt: more than the device has.
    std::optional<std::size_t> memory_of(std::int64_t tokens);
    // Sentences of the greatest length on both sides.
    Batch longest_sentences(std::int64_t tokens) const;

    const Parameters& parameters() const { return parameters_; }
    std::size_t kept_bytes() const { return kept_; }

private:
    Backend& backend_;
    TrainingOptions options_;
    ModelConfig model_config_;
    Arithmetic arithmetic_;
    std::size_t before_;
    Parameters parameters_;
    Transformer model_;
    TrainingPass pass_;
    Optimizer optimizer_;
    std::optional<WeightMean> mean_;
    Tensor step_;
    std::size_t kept_;
    std::int64_t steps_ = 0;
};

}  // namespace headscope
