// The environment variables of the programs: the only place where they are read.
#pragma once

#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope {

// Of an environment ("NAME=value", ended by a null) the variables that the library asks for.
Settings read_environment(const char* const* environment);

// A message for each variable whose name is nearly one of ours.
std::vector<std::string> misspelt_variables(const char* const* environment);

}  // namespace headscope
