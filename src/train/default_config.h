// A configuration for someone who has two text files and no wish to think about one.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "train/text_parts.h"

namespace headscope {

// By the amount of text: the less there is, the smaller the model and the stronger its dropout. A CPU with BF16
// products gets these, but for the smallest model. What stands in it is what a training configuration says, to be
// edited and given back.
nlohmann::json default_config(const TextParts& text, const Backend& device);

// For people: the choices that matter most, in a line.
std::string describe(const nlohmann::json& config);

}  // namespace headscope
