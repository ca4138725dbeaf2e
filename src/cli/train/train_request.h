// From the options of `headscope train` to a request for a training.
#pragma once

#include "cli/train/train_run.h"
#include "train/training_job.h"

namespace headscope {

// Reads the configuration, from its file or from the run in `output`, unless there are texts. `note` gets what the user
// should know of the options.
TrainingRequest request_of(const TrainOptions& options, const Log& note);

}  // namespace headscope
