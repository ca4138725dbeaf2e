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
#include "parallel/communicator.h"
#include "parallel/sharded_sum.h"
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
    // Of a step: see parallel/shards.h. With 1, gradients are added in the order of the parts.
    int shards = 1;
    Communicator* ranks = &alone();  // that learn together, each some of the shards
};

// A step's parts, by shard. A shard may have none.
using ShardParts = std::vector<std::vector<Batch>>;

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
                  std::optional<double> divisor = {}) {
        return step(ShardParts{parts}, number, learning_rate, divisor);
    }
    // The same of LearnerOptions::shards. All ranks call it with the same parts, of which each computes its own; if one
    // runs out of memory, all throw OutOfMemory.
    LossSums step(const ShardParts& shards, std::int64_t number, double learning_rate,
                  std::optional<double> divisor = {});

    bool history_full() const { return history_ && history_->full(); }
    // What happened in the steps since the last call; waits for the device.
    std::vector<StepRecord> take_history();

    // Without dropout. Waits for the device once, at the end. Ranks share the batches.
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
    // Of the parameters in sum()'s slice, if ranks share the work.
    const Optimizer& optimizer() const { return optimizer_; }
    Communicator& ranks() const { return *options_.ranks; }
    // Null with one shard.
    ShardedSum* sum() { return sum_ ? &*sum_ : nullptr; }
    WeightMean* mean() { return mean_ ? &*mean_ : nullptr; }
    const GradientWatch* watch() const { return watch_ ? &*watch_ : nullptr; }
    bool scales_loss() const { return options_.arithmetic.storage == DType::F16; }

private:
    // The forward and backward pass over one part, which a backend may record and replay. The first part of a step
    // overwrites the gradients, later ones add to them, and after the last one they are final.
    // `balance_scale`: of the gradient of the loss that balances experts; undefined: 1.
    LossSums pass(const Batch& part, bool first, bool last, const Tensor& balance_scale);
    LossSums passes(const std::vector<Batch>& parts, const Tensor& balance_scale);
    LossSums learn(const std::vector<Batch>& parts, const Tensor& balance_scale, double learning_rate, double divisor);
    // learner_shards.cpp
    LossSums learn_shards(const ShardParts& shards, const Tensor& balance_scale, double learning_rate, double divisor);
    void make_facts();
    void add_shards(const ShardParts& shards, const Tensor& balance_scale);
    void require_memory(const std::string& lack) const;
    Tensor facts(std::int64_t begin, std::int64_t elements) const { return facts_.narrow(0, begin, elements); }
    bool knows(std::int64_t fact, int rank) const;
    void exchange_facts();
    std::vector<double> sums_of_batches(const Batcher& batcher, std::int64_t& counted) const;
    LossSums empty_sums() const;
    void add(const LossSums& found, const LossSums& sums, Write write) const;

    Backend& backend_;
    LearnerOptions options_;
    Parameters parameters_;
    std::unique_ptr<Model> model_;
    std::optional<ShardedSum> sum_;  // with several shards
    Optimizer optimizer_;
    std::optional<GradientWatch> watch_;
    std::optional<WeightMean> mean_;
    std::optional<StepHistory> history_;
    // What ranks tell each other of a step: the sums of losses of each shard, and the sums of squares of the gradients
    // in each range of sum_, and of what watch_ watches.
    Tensor facts_;
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
