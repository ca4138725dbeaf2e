// Checks whether the installed drivers survive listing their devices.
#pragma once

#include <string>

#include "support/settings.h"

namespace headscope::vulkan {

// Drivers are foreign code in this process: one that crashes would end the program without an explanation. So a child
// process lists the devices first; with a cache directory, only if the set of installed drivers has changed. Error with
// how the child crashed and what to do. A child that takes too long or cannot be forked has no effect.
void require_drivers_survive(const std::string& cache_directory, const Settings& settings);

// Identifies the set of installed drivers: manifests and their libraries with times, and the settings that select among
// them.
std::string installed_drivers(const Settings& settings);

}  // namespace headscope::vulkan
