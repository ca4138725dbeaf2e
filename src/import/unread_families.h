// Why a family of Hugging Face's models does not open.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// What a model of this type has and the engine lacks, such as "ALiBi": by the family's name, or by the keys
// of its configuration. Empty if neither says.
std::string why_unread(const std::string& model_type, const nlohmann::json& config);

}  // namespace headscope
