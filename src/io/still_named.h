// For files that are locked: whoever waits for one may get one that its holder has removed or renamed.
#pragma once

#include <string>

namespace headscope {

// Whether `name` is still that of the open file.
bool still_named(int open_file, const std::string& name);

}  // namespace headscope
