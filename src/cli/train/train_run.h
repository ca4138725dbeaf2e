// What `headscope train` was asked for, and the run that comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "options/common_options.h"

namespace headscope {

// What becomes the configuration.
struct ConfigOptions {
    std::string config;          // a file; "" for two texts, or for what the run's folder holds
    std::string data;            // that its data paths count from
    std::string source, target;  // texts to begin with
    // Those that are not given leave the configuration as it is.
    std::optional<Precision> precision;
    std::optional<std::string> batch;  // "auto" or a number
    std::optional<std::int64_t> steps, tokens, validate_bleu;
    std::optional<double> epochs, minutes;
    bool watch_gradients = false;
    bool tensorboard = false;

    bool of_texts() const { return !source.empty(); }
};

struct TrainOptions {
    CommonOptions common;
    ConfigOptions given;
    std::string output;
    std::string from;  // a model to begin with; "" for random weights
    bool resume = false;
    bool finish = false;
    bool overfit = false;
    bool dry_run = false;
};

void run_training(const TrainOptions& options);

}  // namespace headscope
