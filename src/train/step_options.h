// Translates a configuration into the options of the parts of a step.
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
// Of the parts that a step is cut into. `part_tokens`: a lower limit that memory demands, 0 for none. Without a limit a
// step is one part, even if sampled pieces made it longer than planned.
BatchBudget part_budget(const TrainingOptions& t, std::int64_t part_tokens = 0);

}  // namespace headscope
