// What a plan finds out about one device.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

// Every case that the plan has for the device, by every path, and then the time of those that are timed. Of a device
// that cannot be opened, or not again, too: `failure` says why, and what was found before stays.
DeviceReport report_of(const Plan& plan, const std::string& id, const std::vector<Family>& families);

}  // namespace headscope::conformance
