// The training configuration: one JSON file with the sections "model", "data", "tokenizer" and "training".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/ops/loss.h"
#include "backend/precision.h"
#include "model/config.h"
#include "tensor/dtype.h"
#include "train/schedule.h"

namespace headscope {

// Parallel text: `source` and `target` are files of one sentence a line, line i of one the translation of line i of
// the other, or `tsv` are files of "source TAB target" lines.
struct CorpusFiles {
    std::vector<std::string> source, target, tsv;
};

struct TokenizerOptions {
    bool unigram = false;  // else byte-pair encoding (paper 5.1)
    std::int64_t vocabulary = 8000;
    bool shared = true;  // one vocabulary for both languages
};

struct TrainingOptions {
    // The first limit that is reached ends the training; at least one is set.
    std::int64_t steps = 0;
    double epochs = 0.0;
    double minutes = 0.0;

    // A step's budgets (paper 5.1), and the most padded tokens of one side that go through the model at a time (0: the
    // whole step at once). Pairs with a longer side are left out.
    std::int64_t source_tokens = 25000;
    std::int64_t target_tokens = 25000;
    std::int64_t micro_batch_tokens = 0;
    bool split_when_out_of_memory = true;  // halve those parts where the device has too little memory, and go on
    std::int64_t length_multiple = 8;  // lengths are padded to it; less padding is faster on a CPU, few shapes on a GPU
    std::int64_t max_length = 200;

    double learning_rate_scale = 1.0;  // of equation 3
    std::int64_t warmup_steps = 4000;
    std::int64_t cooldown_steps = 0;
    double beta1 = 0.9;
    double beta2 = 0.98;
    double epsilon = 1e-9;
    double clip_norm = 0.0;  // 0: no clipping

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
    std::int64_t checkpoint_every = 0;  // steps; 0: by time alone
    double checkpoint_minutes = 5.0;    // 0: by steps alone
    std::int64_t keep_last = 5;
    std::int64_t average_last = 1;
    DType save = DType::F32;  // of the final model: F32 or F16
};

struct TrainConfig {
    std::string file;  // for messages
    nlohmann::json model;
    CorpusFiles train, valid;  // valid may be empty
    TokenizerOptions tokenizer;
    TrainingOptions training;

    // The model's configuration once the vocabularies are known.
    ModelConfig model_config(std::int64_t source_vocabulary, std::int64_t target_vocabulary) const;
    Schedule schedule(const ModelConfig& model) const;
    // All that decides which weights come out after a given step; two runs that differ here are different runs.
    nlohmann::json identity() const;
};

// What the configuration's "precision" or "compute" is on this device; Error, naming the key, where it has it not.
Arithmetic arithmetic_of(const TrainConfig& config, const Backend& backend);

// Relative data paths count from `data_directory`, or where that is empty from the configuration file's folder. Error
// names the file and the key, also for unknown keys.
TrainConfig read_train_config(const std::string& file, const std::string& data_directory);
TrainConfig parse_train_config(const nlohmann::json& json, const std::string& file, const std::string& data_directory);
// What must hold between the options; again after the command line has changed some.
void check_train_config(const TrainConfig& config);

}  // namespace headscope
