// How far a training is, by its log.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "eval/training_log.h"

namespace headscope {

// "training" and "validation", its last report and its last validation, and "best", the validation with the least nll,
// with the keys of log.jsonl. What the log lacks is left out.
nlohmann::ordered_json course_json(const TrainingLog& log);

}  // namespace headscope
