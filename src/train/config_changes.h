// Which parts of its configuration a run may change when it is resumed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "train/limits.h"

namespace headscope {

// Why a checkpoint is loaded. Finish: to write a model, without further steps.
enum class Purpose : std::uint8_t { Train, Finish };

struct ConfigChanges {
    std::string refused;               // changes that would make it another run; "" for none
    std::vector<std::string> allowed;  // changes that take effect from here on
};

// What differs between two configurations, key by key: '"seed" was 1 and is now 2'.
std::vector<std::string> differences(const nlohmann::json& then, const nlohmann::json& now);

// `then` and `now` are TrainConfig::identity() of the run at `done` and of its continuation. The length of the run or
// of its cool-down may change until the learning rate begins to fall, since that does not affect the steps done. Error
// for a number in `then` that is not a count.
ConfigChanges compare_configs(nlohmann::json then, nlohmann::json now, const Progress& done, Purpose purpose);

}  // namespace headscope
