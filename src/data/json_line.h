// What readers of JSON Lines with texts have in common.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "io/config_reader.h"

namespace headscope {

// The JSON of a line. Error that names the place for an empty line, and says what a line is `like`.
nlohmann::json json_of_line(const std::string& line, const std::string& place, const char* like);

// The text of a key. Error for another type and for an empty text.
std::string text_of_line(ConfigReader& reader, const char* key);

}  // namespace headscope
