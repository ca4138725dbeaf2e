// What `headscope train` was asked for, and the run that comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/open_options.h"
#include "backend/precision.h"

namespace headscope {

struct TrainOptions {
    OpenOptions open_options;
    std::string config;          // a file; "" for two texts, or for what the run's folder holds
    std::string source, target;  // texts to begin with
    std::string output;
    std::string data;
    std::string device;
    std::string from;  // a model to begin with, "" for weights by chance
    bool resume = false;
    bool finish = false;
    bool overfit = false;
    bool dry_run = false;
    bool watch_gradients = false;
    bool tensorboard = false;
    std::optional<Precision> precision;  // none: as the configuration says, and so with all that follow
    std::optional<std::string> batch;    // "auto" or a number
    std::optional<std::int64_t> steps, tokens, validate_bleu;
    std::optional<double> epochs, minutes;
};

void run_training(const TrainOptions& options);

}  // namespace headscope
