// What a training learns from, step by step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/corpus.h"
#include "tensor/tensor.h"

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
    // The learning rate of the next step, for a source that trains a model of its own.
    virtual void use_rate(double /*rate*/) {}
    virtual std::int64_t about_steps_per_epoch() const = 0;  // at least 1

    // Whether state() and tensors() are all that next() depends on: only then is a checkpoint written, and a run ends.
    virtual bool between() const { return true; }
    // What a checkpoint holds beside state(), on the device, by name. tensors_read() follows when they were read.
    virtual std::map<std::string, Tensor> tensors() { return {}; }
    virtual void tensors_read() {}
    // What it measured of the newest steps, by name, for reports.
    virtual std::map<std::string, double> measures() const { return {}; }
};

}  // namespace headscope
