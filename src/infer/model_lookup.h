// Finds the model if the command line names none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope {

// The bundled models.
inline constexpr const char* kTranslationModel = "en-de";
inline constexpr const char* kCausalModel = "en-causal";
inline constexpr const char* kMaskedModel = "en-masked";

// model_folder() of `wanted` if it is not empty; else of the setting HEADSCOPE_MODEL; else the bundled model in the
// first folder of the search path whose `models` has it. Error lists the searched places.
std::string find_model(const std::string& wanted, const Settings& settings,
                       const std::vector<std::filesystem::path>& search_path,
                       const std::string& bundled = kTranslationModel);

}  // namespace headscope
