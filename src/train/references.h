// The log-probabilities of responses under the model with which a training compares its own.
#pragma once

#include "backend/backend.h"
#include "model/model_directory.h"
#include "train/train_config.h"
#include "train/training_data.h"

namespace headscope {

// Sets them for all responses of the data. The model of "data.reference" is in memory only meanwhile, since responses
// stay the same in every epoch. Error if it has another vocabulary or reads shorter texts.
void add_references(Backend& backend, const TrainConfig& config, const TrainingData& data, const Log& say);

// Error that names the key of the configuration, unless the model is a causal one of the training's vocabulary that
// reads texts as long as its.
void require_same_texts(const ModelDirectory& model, const TrainConfig& config, const TrainingData& data,
                        const char* key);

}  // namespace headscope
