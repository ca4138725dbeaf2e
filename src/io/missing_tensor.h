// The error for a tensor that a file does not hold.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// Throws an Error that suggests similar names.
[[noreturn]] void missing_tensor(const std::string& path, const std::string& name,
                                 const std::vector<std::string>& names);

}  // namespace headscope
