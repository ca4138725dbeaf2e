// What a model's training cost: training.json in its directory. docs/model-directory.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

inline constexpr const char* kTrainingCard = "training.json";

// An object, or null if the directory has none. Error, naming the file, if it is damaged.
nlohmann::json read_training_card(const std::string& directory);
void write_training_card(const std::string& directory, const nlohmann::json& card);

}  // namespace headscope
