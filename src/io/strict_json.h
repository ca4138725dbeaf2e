// JSON that people write by hand: duplicate keys are errors.
#pragma once

#include <istream>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Parses `stream`. Error that names `file` for invalid JSON (with the line) and for duplicate keys, of which the JSON
// library would silently keep the last.
nlohmann::json parse_json(std::istream& stream, const std::string& file);
// Parses the file `path`. Error also if it cannot be read or is not text.
nlohmann::json read_json_file(const std::string& path);

}  // namespace headscope
