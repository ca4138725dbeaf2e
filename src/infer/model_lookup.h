// Finds the model if the command line names none.
#pragma once

#include <string>

#include "support/settings.h"

namespace headscope {

// The bundled models.
inline constexpr const char* kTranslationModel = "en-de";
inline constexpr const char* kCausalModel = "en-causal";
inline constexpr const char* kMaskedModel = "en-masked";

// model_folder() of `wanted` if it is not empty; else of the setting HEADSCOPE_MODEL; else the bundled model in the
// first of the bundled_places() that has it. Error lists the searched places.
std::string find_model(const std::string& wanted, const Settings& settings,
                       const std::string& bundled = kTranslationModel);

}  // namespace headscope
