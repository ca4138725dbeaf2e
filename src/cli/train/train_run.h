// The options of `headscope train`, and what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/ranks.h"
#include "options/common_options.h"
#include "parallel/network.h"
#include "train/training_job.h"

namespace headscope {

// Options that become part of the configuration.
struct ConfigOptions {
    std::string config;   // file; "" for texts, or for the one saved in the run's folder
    std::string data;     // folder of its data paths
    TrainingTexts texts;  // instead of `config`
    // Unset options do not change the configuration.
    std::optional<Precision> precision;
    std::optional<std::string> batch;  // "auto" or a number
    std::optional<std::int64_t> steps, tokens, validate_bleu;
    std::optional<double> epochs, minutes, learning_rate, beta, kl;
    std::string chat = {};    // the template of prompts and responses; "": the configuration's
    std::string reward = {};  // model directory that scores rollouts; "": the configuration's
    bool watch_gradients = false;
    bool tensorboard = false;
};

struct TrainOptions {
    CommonOptions common;
    ConfigOptions given;
    std::string output;
    std::string from;                        // model directory with the first weights; "" for random ones
    std::optional<bool> task_of_pairs = {};  // that --task names, if it does
    bool resume = false;
    bool finish = false;
    bool overfit = false;
    bool dry_run = false;
    std::int64_t show_labels = 0;  // examples; 0: train
    RankOptions ranks;
    std::string network;  // of --dry-run, see parse_network(); "": unknown
};

void run_training(const TrainOptions& options);

}  // namespace headscope
