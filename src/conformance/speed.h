// How fast a device runs a case.
#pragma once

#include "conformance/case.h"
#include "conformance/report.h"

namespace headscope::conformance {

// Contiguous operands, overwritten; the first run does not count.
Speed measure(Backend& device, const Case& stated);

}  // namespace headscope::conformance
