// The environment variables that the program listens to, so that a slip of the finger in one is not taken for silence.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// A message for each variable of `environment` ("NAME=value", ended by a null) that is none of the program's and nearly
// one of them.
std::vector<std::string> misspelt_variables(const char* const* environment);

}  // namespace headscope
