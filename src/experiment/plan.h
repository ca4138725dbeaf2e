// What an experiment would train, and how long that takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "experiment/trial.h"

namespace headscope {

struct PlannedTrial {
    std::int64_t parameters = 0;
    double steps = 0.0;
    double minutes = 0.0;  // from a few measured steps, without development data and checkpoints
    std::string problem;   // why it cannot be trained; "" if it can
};

// Measures each trial on the device, with tokenizers of `base` in a temporary folder. Writes nothing else. Trials that
// differ only in their seed are measured once.
std::vector<PlannedTrial> plan_trials(Backend& backend, const nlohmann::json& base, const std::vector<Trial>& trials);

}  // namespace headscope
