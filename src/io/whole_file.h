// Small files, at once.
#pragma once

#include <string>

namespace headscope {

// All bytes of the file. Error with the system's reason, in which `name` stands for it.
std::string read_whole_file(const std::string& path, const std::string& name);

}  // namespace headscope
