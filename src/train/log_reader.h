// Reads log.jsonl of a training.
#pragma once

#include <string>

#include "eval/training_log.h"

namespace headscope {

// Skips incomplete lines, since the last one may still be written. Returns no points if there is no file.
TrainingLog read_training_log(const std::string& path);
// Error if the first line is complete and not from a log.
void require_training_log(const std::string& path);

}  // namespace headscope
