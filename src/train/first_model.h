// A model that a run begins with, in place of chance (--from).
#pragma once

#include <string>

#include "backend/backend.h"
#include "model/model_directory.h"
#include "train/train_config.h"

namespace headscope {

// Error when the model has not the shape that is asked for.
void require_shape(const ModelDirectory& model, const ModelConfig& asked, const std::string& config_file);
// Error when a run of this configuration cannot begin with the model, whose tokenizers would be its own.
void require_first_model(const TrainConfig& config, const std::string& directory);
// The same, weights included.
void try_first_model(Backend& backend, const TrainConfig& config, const std::string& directory);

}  // namespace headscope
