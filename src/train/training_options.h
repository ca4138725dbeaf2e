// The section "training" of a configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/choices.h"
#include "backend/precision.h"
#include "tensor/dtype.h"
#include "train/divergence_guard.h"
#include "train/limits.h"

namespace headscope {

// What label smoothing mixes in: equal shares, or the frequencies of the tokens that the training predicts.
enum class SmoothingTowards : std::uint8_t { Uniform, Unigram };

struct TrainingOptions {
    // The first limit reached ends the training. At least one is set.
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;  // of the target side
    double minutes = 0.0;
    // So do this many validations in a row without a new lowest loss; 0: never.
    std::int64_t patience = 0;

    // The budgets of a step (paper 5.1), and the maximum padded tokens of one side in the model at a time (0: the whole
    // step). Pairs with a side longer than max_length are left out.
    bool find_batch = false;  // "source_tokens": "auto": both budgets are what fits in memory
    std::int64_t source_tokens = 25000;
    std::int64_t target_tokens = 25000;
    std::int64_t micro_batch_tokens = 0;
    // Groups of a step's examples whose gradients are added in a fixed tree, so that the result does not depend on the
    // number of ranks: a power of two, at least that number.
    std::int64_t shards = 1;
    bool split_when_out_of_memory = true;  // halve the parts if the device runs out of memory
    std::int64_t length_multiple = 8;  // lengths are padded to it: less padding is faster on a CPU, few shapes on a GPU
    std::int64_t max_length = 200;

    double learning_rate_scale = 1.0;  // of equation 3
    std::int64_t warmup_steps = 4000;
    std::int64_t cooldown_steps = 0;
    double cooldown = 0.0;  // the same as a share of the limit, of any kind
    double beta1 = 0.9;
    double beta2 = 0.98;
    double epsilon = 1e-9;
    double clip_norm = 0.0;     // 0: no clipping
    double weight_decay = 0.0;  // of matrices and embeddings, see OptimizerOptions
    double ema_decay = 0.0;     // of the exponential mean of the weights; 0: no mean
    GuardOptions guard;         // "divergence_returns" etc.

    double label_smoothing = 0.1;  // of comparisons: the probability that people mistook a pair
    Smoothing smoothing = Smoothing::AllClasses;
    SmoothingTowards smoothing_towards = SmoothingTowards::Uniform;
    double residual_dropout = 0.1;
    double embedding_dropout = 0.1;
    double attention_dropout = 0.0;
    double activation_dropout = 0.0;
    double expert_balance = 0.01;  // weight of the loss that balances a mixture of experts
    double beta = 0.1;             // of preference_objective(): how near the model stays to its reference

    std::int64_t seed = 1;
    // How numbers are stored and multiplied; an error if the device lacks it. Without `precision`, products use
    // `compute` and everything is stored in F32.
    std::optional<Precision> precision;
    Compute compute = Compute::F32;
    // F16 only: the initial loss scale, and how it changes (LossScaling).
    double loss_scale = 32768.0;
    std::int64_t loss_scale_interval = 2000;
    double loss_scale_least = 1.0;
    double loss_scale_most = 16777216.0;

    std::int64_t report_every = 50;
    bool watch_gradients = false;  // the norm of each layer's gradient in every report
    std::int64_t validate_every = 1000;
    std::int64_t validate_bleu = 0;     // held-out pairs to translate at each validation; 0: none
    std::int64_t checkpoint_every = 0;  // steps; 0: only by time
    double checkpoint_minutes = 5.0;    // 0: only by steps
    std::int64_t keep_last = 5;
    bool keep_powers_of_two = false;  // also the checkpoints after steps 1, 2, 4, 8, ...
    std::int64_t average_last = 1;
    bool average_always = false;  // whatever does better on the validation text
    DType save = DType::F32;      // of the final model: F32 or F16
    bool tensorboard = false;     // also write event files

    RunLimits limits() const { return {.steps = steps, .epochs = epochs, .tokens = tokens, .minutes = minutes}; }
};

// Errors name the file and the key, also for unknown keys.
TrainingOptions parse_training_options(const nlohmann::json& json, const std::string& file);
// Checks the options against each other. Call it again after changing some.
void check_training_options(const TrainingOptions& options, const std::string& file);
// All options that decide the weights after a given step, as "training.<key>". Options that earlier versions lacked are
// included only if they are set.
nlohmann::json identity_of(const TrainingOptions& options);

}  // namespace headscope
