// A plan's results on one device.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

// Runs every case that the plan has for the device by every path, then the timings. Also reports a device that cannot
// be opened (again): `failure` has the reason, and earlier results stay.
DeviceReport report_of(const Plan& plan, const std::string& id, const std::vector<Family>& families);

}  // namespace headscope::conformance
