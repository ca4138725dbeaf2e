// JSON that people write by hand.
#pragma once

#include <istream>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// The document of `stream`. Error that names `file` for what is no JSON (with the line), and for an object that has a
// key twice: the library would take the last one and say nothing.
nlohmann::json parse_json(std::istream& stream, const std::string& file);
// The document in the file `path`. Error also where it cannot be read or is no text.
nlohmann::json read_json_file(const std::string& path);

}  // namespace headscope
