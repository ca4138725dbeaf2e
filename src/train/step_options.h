// What a configuration says, in the words of those who carry out a step.
#pragma once

#include "autograd/context.h"
#include "backend/precision.h"
#include "data/batcher.h"
#include "model/config.h"
#include "model/transformer.h"
#include "train/optimizer.h"
#include "train/training_options.h"

namespace headscope {

OptimizerOptions optimizer_options(const TrainingOptions& t, const Arithmetic& arithmetic);
SpecialIds special_ids(const ModelConfig& model);
Regularisation regularisation_of(const TrainingOptions& t);
LossOptions loss_options(const TrainingOptions& t);
BatchBudget step_budget(const TrainingOptions& t);
BatchBudget micro_budget(const TrainingOptions& t);  // of what is in memory at a time

}  // namespace headscope
