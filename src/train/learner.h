// The device half of a training: everything that one step reads and writes, and nothing of files. Paper 5.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/precision.h"
#include "data/batcher.h"
#include "model/model.h"
#include "model/parameters.h"
#include "train/gradient_watch.h"
#include "train/objective.h"
#include "train/optimizer.h"
#include "train/step_history.h"
#include "train/weight_mean.h"

namespace headscope {

struct LearnerOptions {
    Arithmetic arithmetic = {};
    OptimizerOptions optimizer = {};
    Regularisation regularisation = {};  // only the rates and the seed count
    Objective objective = {};
    LossOptions loss = {};           // without its prior
    std::vector<double> prior = {};  // LossOptions::prior, by id; empty: even
    std::uint64_t seed = 1;          // of the initial weights
    double ema_decay = 0.0;          // 0: no mean of the weights
    bool watch_gradients = false;
    std::int64_t history = 0;                            // steps recorded between two take_history(); 0: none
    std::function<void(const std::string&)> label = {};  // see Context::label
};

// Per target token, eos counted, pads not; of comparisons per prompt.
struct ValidationLoss {
    double loss = 0.0;                            // smoothed as in training
    double nll = 0.0;                             // unsmoothed; perplexity = exp(nll)
    std::map<std::string, double> measures = {};  // of the objective, by name
};

class Learner {
public:
    // Starts with random weights.
    Learner(Backend& backend, const ModelConfig& model, LearnerOptions options);
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    void begin();            // from random weights
    void begin_optimizer();  // keeps the weights: no moments, the initial loss scale, a mean equal to the weights

    // One step over a batch in parts: the gradients add up, then Adam moves the weights by the sum over `divisor`,
    // Batch::counted() by default; no divisor changes the weight of the loss that balances experts. `number` counts
    // from 1. The history must not be full. Only enqueues; returns the sums over the batch. After an OutOfMemory the
    // learner is as before, so that the step can be repeated in other parts.
    LossSums step(const std::vector<Batch>& parts, std::int64_t number, double learning_rate,
                  std::optional<double> divisor = {});

    bool history_full() const { return history_ && history_->full(); }
    // What happened in the steps since the last call; waits for the device.
    std::vector<StepRecord> take_history();

    // Without dropout. Waits for the device once, at the end.
    ValidationLoss validate(const Batcher& batcher) const;

    void set_loss_scale(const LossScaleState<double>& state) { optimizer_.set_loss_scale(state); }
    void set_updates(std::int64_t updates) { optimizer_.set_updates(updates); }
    void load_mean();  // overwrites the weights with their mean

    Backend& backend() const { return backend_; }
    const LearnerOptions& options() const { return options_; }
    const ModelConfig& model_config() const { return model_->config(); }
    const Model& model() const { return *model_; }
    const Parameters& parameters() const { return parameters_; }
    Parameters& parameters() { return parameters_; }
    const Optimizer& optimizer() const { return optimizer_; }
    WeightMean* mean() { return mean_ ? &*mean_ : nullptr; }
    const GradientWatch* watch() const { return watch_ ? &*watch_ : nullptr; }
    bool scales_loss() const { return options_.arithmetic.storage == DType::F16; }

private:
    // The forward and backward pass over one part, which a backend may record and replay. The first part of a step
    // overwrites the gradients, later ones add to them, and after the last one they are final.
    // `balance_scale`: of the gradient of the loss that balances experts; undefined: 1.
    LossSums pass(const Batch& part, bool first, bool last, const Tensor& balance_scale);
    LossSums passes(const std::vector<Batch>& parts, const Tensor& balance_scale);
    LossSums empty_sums() const;
    void add(const LossSums& found, const LossSums& sums, Write write) const;

    Backend& backend_;
    LearnerOptions options_;
    Parameters parameters_;
    std::unique_ptr<Model> model_;
    Optimizer optimizer_;
    std::optional<GradientWatch> watch_;
    std::optional<WeightMean> mean_;
    std::optional<StepHistory> history_;
    Tensor step_;           // I32 [1]: the step's number, from which dropout draws
    Tensor balance_scale_;  // [1]: the divisor over the tokens to predict, of a step that is given one
    // What training passes write besides gradients, such as a batch norm's running averages, and its values before the
    // step: a repeated step must not move them twice.
    struct Buffer {
        Tensor values;
        Tensor before;
    };
    std::vector<Buffer> buffers_;
};

}  // namespace headscope
