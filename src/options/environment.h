// The only place where the programs read environment variables.
#pragma once

#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope {

// The variables that the library uses, from a null-terminated list of "NAME=value".
Settings read_environment(const char* const* environment);

// The names of these variables.
const std::vector<std::string>& known_variables();

// A warning for each HEADSCOPE_ variable that looks like a misspelling of a known one.
std::vector<std::string> misspelt_variables(const char* const* environment);

}  // namespace headscope
