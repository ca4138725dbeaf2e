// What a training would be and take, without beginning it.
#pragma once

#include <string>

#include "backend/backend.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

// For people, in lines: the model and its parameters by block, the steps and their number, the memory of the largest
// one and the time of some, both measured, and the files that would be written to `output`. Writes nothing.
std::string describe_training(Backend& backend, const TrainConfig& config, const TrainingData& data,
                              const std::string& output);

}  // namespace headscope
