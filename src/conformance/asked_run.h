// What the users of `headscope conform` and the C library ask for, and how they are told what failed.
#pragma once

#include <string>
#include <vector>

#include "backend/open_options.h"
#include "conformance/report.h"

namespace headscope::conformance {

// The ids of devices: of those named, each once; without any, and without HEADSCOPE_DEVICE, every usable device except
// the CPU, the reference of the others. Error if that is none.
std::vector<std::string> devices_asked_for(const std::vector<std::string>& named, const OpenOptions& open);

// Error for HEADSCOPE_SCAN_NAN, which would fail on the NaNs that some cases contain on purpose.
void require_no_scan(const Settings& settings);

// "cpu: 3 of 40 results failed", and the same of other devices; empty if all passed.
std::string failures_of(const Report& report);

}  // namespace headscope::conformance
