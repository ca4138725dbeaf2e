// Reads small files at once.
#pragma once

#include <string>

namespace headscope {

// The file's text. Error with the system's reason, in which `name` identifies the file.
std::string read_whole_file(const std::string& path, const std::string& name);

}  // namespace headscope
