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
// Of an object that is text already.
std::string json_with_schema(const std::string& object);

// A file that was written: "path", "kind" (the end of its name, such as "svg") and "bytes".
nlohmann::ordered_json written_file(const std::string& path);
// Those in a folder and in the folders inside, by name, but for files without an end of their name: locks.
nlohmann::ordered_json written_files(const std::string& folder);

}  // namespace headscope
