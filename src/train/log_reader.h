// Reads log.jsonl of a training.
#pragma once

#include <string>

#include "eval/training_log.h"

namespace headscope {

// Lines that are not whole are passed over, since the last may be being written; without a file there are no points.
TrainingLog read_training_log(const std::string& path);
// Error for a file whose first line is whole and no log's.
void require_training_log(const std::string& path);

}  // namespace headscope
