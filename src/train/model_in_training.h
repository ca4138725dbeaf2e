// The model of a learner, to be used between its steps.
#pragma once

#include "infer/loaded_model.h"
#include "train/learner.h"
#include "train/training_data.h"

namespace headscope {

// Reads the learner's weights as they are when it is asked. The learner outlives it.
LoadedModel model_in_training(const Learner& learner, const TrainingData& data);

}  // namespace headscope
