// A model whose weights a run starts from (--from).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "train/learner.h"
#include "train/train_config.h"

namespace headscope {

// A configuration with the shape and the tokenizers of the model, to go on with its training. Languages that are not
// chosen are its author's choice.
nlohmann::json config_from(nlohmann::json config, const std::string& directory, const Languages& languages);

// Error if a run of this configuration cannot start from the model and its tokenizers.
void require_first_model(const TrainConfig& config, const std::string& directory);
// The same, and reads the weights.
void try_first_model(Backend& backend, const TrainConfig& config, const std::string& directory);
// Starts the learner again from the model's weights. Error if the model has another shape.
void load_first_model(Learner& learner, const TrainConfig& config, const std::string& directory);

}  // namespace headscope
