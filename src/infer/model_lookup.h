// Finds the models that users name, and the bundled one if they name none.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope {

// The bundled models.
inline constexpr const char* kTranslationModel = "en-de";
inline constexpr const char* kCausalModel = "en-causal";
inline constexpr const char* kMaskedModel = "en-masked";
inline constexpr const char* kTreeModel = "en-trees";

// The paths of the models in `models` of the search path, by their names; of two of one name the first.
std::map<std::string, std::string> bundled_models(const std::vector<std::filesystem::path>& search_path);

// The path of a model: `wanted`, or if nothing is there and it is a bare name, the bundled model of that
// name. Error lists the bundled names if there is no such one.
std::string named_model(const std::string& wanted, const std::vector<std::filesystem::path>& search_path);

// model_folder() of named_model() of `wanted` if it is not empty; else of the setting HEADSCOPE_MODEL; else the bundled
// model in the first folder of the search path whose `models` has it. Error lists the searched places.
std::string find_model(const std::string& wanted, const Settings& settings,
                       const std::vector<std::filesystem::path>& search_path,
                       const std::string& bundled = kTranslationModel);

}  // namespace headscope
