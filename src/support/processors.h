// How many processors this process may use.
#pragma once

#include <string>

namespace headscope {

// By its affinity and a container's quota; at least 1.
int processors();

// How many of `processors` a control group's quota keeps busy: "QUOTA PERIOD" of the kernel's cpu.max, or "max PERIOD"
// for no quota. At least 1.
int processors_of_quota(const std::string& quota_and_period, int processors);

}  // namespace headscope
