// The section "training" of a configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/ops/loss.h"
#include "backend/precision.h"
#include "tensor/dtype.h"
#include "train/divergence_guard.h"
#include "train/limits.h"

namespace headscope {

struct TrainingOptions {
    // The first limit that is reached ends the training; at least one is set.
    std::int64_t steps = 0;
    double epochs = 0.0;
    std::int64_t tokens = 0;  // of the target side
    double minutes = 0.0;
    // Or so many validations in a row without a lower loss than the lowest; 0: no matter how many.
    std::int64_t patience = 0;

    // A step's budgets (paper 5.1), and the most padded tokens of one side that go through the model at a time (0: the
    // whole step at once). Pairs with a longer side are left out.
    bool find_batch = false;  // "source_tokens": "auto": both budgets are what the device's memory holds
    std::int64_t source_tokens = 25000;
    std::int64_t target_tokens = 25000;
    std::int64_t micro_batch_tokens = 0;
    bool split_when_out_of_memory = true;  // halve those parts where the device has too little memory, and go on
    std::int64_t length_multiple = 8;  // lengths are padded to it; less padding is faster on a CPU, few shapes on a GPU
    std::int64_t max_length = 200;

    double learning_rate_scale = 1.0;  // of equation 3
    std::int64_t warmup_steps = 4000;
    std::int64_t cooldown_steps = 0;
    double cooldown = 0.0;  // the same as a share of the limit, whichever that is
    double beta1 = 0.9;
    double beta2 = 0.98;
    double epsilon = 1e-9;
    double clip_norm = 0.0;  // 0: no clipping
    double ema_decay = 0.0;  // of the exponential mean of the weights; 0: none is kept
    GuardOptions guard;      // "divergence_returns" and its like

    double label_smoothing = 0.1;
    Smoothing smoothing = Smoothing::AllClasses;
    double residual_dropout = 0.1;
    double embedding_dropout = 0.1;
    double attention_dropout = 0.0;
    double activation_dropout = 0.0;

    std::int64_t seed = 1;
    // How numbers are stored and multiplied; what the device has not is refused. Where `precision` is not given,
    // `compute` is what products are computed in, and everything is stored in F32.
    std::optional<Precision> precision;
    Compute compute = Compute::F32;
    // With F16 alone: the loss scale at the start, and how it moves (LossScaling).
    double loss_scale = 32768.0;
    std::int64_t loss_scale_interval = 2000;
    double loss_scale_least = 1.0;
    double loss_scale_most = 16777216.0;

    std::int64_t report_every = 50;
    bool watch_gradients = false;  // the norm of each layer's gradient in every report
    std::int64_t validate_every = 1000;
    std::int64_t validate_bleu = 0;     // of the first so many held-out pairs, at each validation; 0: none
    std::int64_t checkpoint_every = 0;  // steps; 0: by time alone
    double checkpoint_minutes = 5.0;    // 0: by steps alone
    std::int64_t keep_last = 5;
    std::int64_t average_last = 1;
    DType save = DType::F32;   // of the final model: F32 or F16
    bool tensorboard = false;  // event files beside log.jsonl

    Limits limits() const { return {.steps = steps, .epochs = epochs, .tokens = tokens, .minutes = minutes}; }
};

// Error names the file and the key, also for unknown keys.
TrainingOptions parse_training_options(const nlohmann::json& json, const std::string& file);
// What must hold between the options alone; again after the command line has changed some.
void check_training_options(const TrainingOptions& options, const std::string& file);
// All of them that decides which weights come out after a given step, as "training.<key>". What a run of an earlier
// version could not have is in it only where it is asked for.
nlohmann::json identity_of(const TrainingOptions& options);

}  // namespace headscope
