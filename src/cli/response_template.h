// The chat template of the commands that read prompts with responses.
#pragma once

#include <string>

#include "model/model_directory.h"

namespace headscope {

// The named template, or else the model's; kNoTemplate if it has none. Says so if the model's is an unknown one.
std::string response_template(const ModelDirectory& model, const std::string& named);

}  // namespace headscope
