// What of its configuration a run may change when it goes on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "train/limits.h"

namespace headscope {

// What a checkpoint is taken up for. Finish: to make a model of it, without a further step.
enum class Purpose : std::uint8_t { Train, Finish };

struct ConfigChanges {
    std::string refused;               // those that would make another run of it, "" for none
    std::vector<std::string> allowed;  // from here on the run is not that of either configuration alone
};

// `then` and `now` are TrainConfig::identity() of the run that stands at `done`, and of the one that goes on. Where
// the length of the run or of its cool-down changes before the rate has begun to fall, that is no change to the steps
// done. Error for a number in `then` that is no count.
ConfigChanges compare_configs(nlohmann::json then, nlohmann::json now, const Progress& done, Purpose purpose);

}  // namespace headscope
