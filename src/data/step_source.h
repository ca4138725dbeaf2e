// What a training learns from, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/corpus.h"

namespace headscope {

struct TrainingStep {
    std::vector<Example> examples;  // at least one
    // What the sums of losses and gradients are divided by, above 0; by default the number of tokens to predict.
    std::optional<double> divisor = {};
};

class StepSource {
public:
    StepSource() = default;
    StepSource(const StepSource&) = delete;
    StepSource& operator=(const StepSource&) = delete;
    virtual ~StepSource() = default;

    // Steps without end: after an epoch's last one the next epoch begins.
    virtual TrainingStep next() = 0;
    // The position of next(), an object for a checkpoint. A source of the same data that is set to it goes on with the
    // same steps. set_state() throws an Error for a position that does not exist.
    virtual nlohmann::json state() const = 0;
    virtual void set_state(const nlohmann::json& state) = 0;
    virtual double epochs_done() const = 0;
    virtual std::int64_t about_steps_per_epoch() const = 0;  // at least 1
};

}  // namespace headscope
