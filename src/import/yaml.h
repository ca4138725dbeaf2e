// YAML as JSON, for configurations.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Plain scalars become numbers, booleans or null where they look so; tags are ignored. Error that names `file` for
// text that is not YAML, and for nesting or aliases that would make it enormous.
nlohmann::json parse_yaml(const std::string& text, const std::string& file);

}  // namespace headscope
