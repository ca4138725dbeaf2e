// The text of --json. Every object has "schema", the version of what docs/command-line.md says of its keys: it grows
// when a key goes or means something else, not when one is added.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Over several lines.
std::string json_document(const nlohmann::ordered_json& object);
// On one line, of many.
std::string json_row(const nlohmann::ordered_json& object);

}  // namespace headscope
