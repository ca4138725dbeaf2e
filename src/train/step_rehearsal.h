// Trial steps that measure the time and memory of a training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/flops.h"
#include "train/learner.h"
#include "train/train_config.h"

namespace headscope {

class StepRehearsal {
public:
    // Allocates everything that a training of this configuration keeps on the device.
    StepRehearsal(Backend& backend, const TrainConfig& config, const ModelConfig& model, const Arithmetic& arithmetic);

    // Runs a whole step over these parts and returns its seconds. The weights are useless afterwards.
    double run(const std::vector<Batch>& parts);
    // Examples of the training's text as parts of a step. Those that are compared need no references.
    std::vector<Batch> parts_of(std::vector<Example> examples) const;
    // The most memory of a step over `tokens` padded tokens of each side, without kept_bytes(): all its sentences have
    // the configuration's greatest length. nullopt: more than the device has.
    std::optional<std::size_t> memory_of(std::int64_t tokens);
    // Sentences of the greatest length on both sides.
    Batch longest_sentences(std::int64_t tokens) const { return sentences(tokens, options_.max_length); }
    // `tokens` padded tokens of each side in sentences of `length` tokens, of which a language model's blocks have the
    // greatest number.
    Batch sentences(std::int64_t tokens, std::int64_t length) const;

    TrainingFlops flops() const { return {learner_.model_config(), learner_.parameters().total()}; }
    const Parameters& parameters() const { return learner_.parameters(); }
    std::size_t kept_bytes() const { return kept_; }
    bool learns_values() const { return values_ != nullptr; }
    std::size_t other_bytes() const { return others_; }  // of kept_bytes(), for other models than the one that learns

private:
    void add_judges(const TrainConfig& config, const Arithmetic& arithmetic);
    void complete(std::vector<Example>& examples) const;

    Backend& backend_;
    TrainingOptions options_;
    TaskTraits task_;
    Frame frame_;
    std::size_t before_;
    Learner learner_;
    std::unique_ptr<Learner> values_;                  // of rollouts with a model of values
    std::vector<std::unique_ptr<Parameters>> frozen_;  // of rollouts: the reference and the reward model
    std::size_t others_ = 0, kept_ = 0;
    std::int64_t steps_ = 0;
};

}  // namespace headscope
