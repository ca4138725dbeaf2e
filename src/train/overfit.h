// A test of a set-up: whether it can overfit one batch.
#pragma once

#include <cstdint>
#include <string>

#include "train/run.h"

namespace headscope {

// Trains on the first step's sentences alone, without dropout and smoothing, from the weights of the model directory
// `from` or, if that is empty, from random ones. Returns the last nll per token. Error if a stop was requested.
double overfit_one_batch(Backend& backend, TrainConfig config, const TrainingData& data, const std::string& from,
                         std::int64_t steps, const RunHooks& hooks);

}  // namespace headscope
