// Models and devices as JSON, for commands and the C library.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "model/model_directory.h"

namespace headscope {

// By key: those of config.json with their defaults, "parameters", "shared_vocabulary", the author's decoding options
// ("decoding_beam") and what the training cost ("training_steps").
nlohmann::json model_facts(const ModelDirectory& model);

// What `headscope devices --json` prints of devices. `default_id`: the one that is used if none is named.
nlohmann::ordered_json devices_json(const std::vector<DeviceInfo>& devices, const std::string& default_id);

}  // namespace headscope
