// How ranks begin a training together: rank 0 finds out what is to be done and tells the others.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "parallel/communicator.h"
#include "train/learner.h"
#include "train/train_config.h"

namespace headscope {

// What rank 0 tells, from its `told`, on all ranks. Error on all if one does not see rank 0's `folder`.
nlohmann::json tell_start(Communicator& ranks, nlohmann::json told, const std::string& folder);

// Error for what only one rank can train.
void require_divisible(const TrainConfig& config, int ranks, std::int64_t shards);

// Error on all ranks, which names two of them, if they run different programs or train something else. `facts`: what
// must be equal, by name.
void require_same(Communicator& ranks, const nlohmann::ordered_json& facts);

}  // namespace headscope
