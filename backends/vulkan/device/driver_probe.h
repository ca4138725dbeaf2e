// Whether the installed drivers survive being asked for their devices.
#pragma once

#include <string>

#include "support/settings.h"

namespace headscope::vulkan {

// A driver is a stranger's code within this process, and one that crashes would take the program along before it could
// say why. So it is asked in a child process first; and, where there is a directory for caches, only when another set
// of drivers is installed than the last time. Error that says how the child ended and what to do. A child that takes
// too long, or cannot be had, tells nothing.
void require_drivers_survive(const std::string& cache_directory, const Settings& settings);

// What tells one set of installed drivers from another: the files that name them and those that they name, with their
// times, and the settings that choose among them.
std::string installed_drivers(const Settings& settings);

}  // namespace headscope::vulkan
