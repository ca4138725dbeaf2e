// What the environment says.
#pragma once

#include <string>

namespace headscope {

// Of the variable; empty where it is not set.
std::string environment(const char* name);

// Of one that is 1, or 0, or not set. Error for any other value, whose writer meant something.
bool environment_switch(const char* name);

}  // namespace headscope
