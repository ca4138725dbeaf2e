// A default configuration for two parallel texts, or for the text of a language model.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "data/task.h"
#include "train/document_parts.h"
#include "train/text_parts.h"

namespace headscope {

// Depends on the amount of text: the less there is, the smaller the model and the stronger its dropout. Uses BF16
// products on a CPU that has them, except for the smallest model. The result is an ordinary training configuration,
// which users can edit.
nlohmann::json default_config(const TextParts& text, Task task, const Backend& device);
nlohmann::json default_config(const DocumentParts& text, Task task, const Backend& device);

// Summary of the most important choices, one line.
std::string describe(const nlohmann::json& config);

}  // namespace headscope
