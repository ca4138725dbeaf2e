// A model whose weights a run starts from (--from).
#pragma once

#include <string>

#include "backend/backend.h"
#include "train/learner.h"
#include "train/train_config.h"

namespace headscope {

// Error if a run of this configuration cannot start from the model and its tokenizers.
void require_first_model(const TrainConfig& config, const std::string& directory);
// The same, and reads the weights.
void try_first_model(Backend& backend, const TrainConfig& config, const std::string& directory);
// Starts the learner again from the model's weights. Error if the model has another shape.
void load_first_model(Learner& learner, const TrainConfig& config, const std::string& directory);

}  // namespace headscope
