// Describes a training without starting it.
#pragma once

#include <string>

#include "backend/backend.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

// Text for the user: the model and its parameters by block, the number of steps, their memory, time and arithmetic,
// what the training costs by the paper's estimate, and the files that would be written to `output`. Without data steps
// have sentences of random pieces. Writes nothing.
std::string describe_training(Backend& backend, const TrainConfig& config, const TrainingData* data,
                              const std::string& output);

}  // namespace headscope
