// What `headscope train` does without leaving anything, neither in --output nor elsewhere.
#pragma once

#include "cli/train/train_run.h"
#include "cli/train/train_terminal.h"

namespace headscope {

// --dry-run: what the training would be, on standard output.
void dry_run(const TrainOptions& options, Terminal& terminal);

// --overfit-one-batch. Error where the batch is not learnt.
void overfit_one_batch(const TrainOptions& options, Terminal& terminal);

}  // namespace headscope
