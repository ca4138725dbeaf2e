// What becomes of a case, counted into the result that it belongs to.
#pragma once

#include <string>
#include <vector>

#include "conformance/harness.h"
#include "conformance/report.h"

namespace headscope::conformance {

void note_standing(const Standing& standing, const Backend& device, const Case& stated, Result& result);

// That the case failed, on this device.
void note_failed(const std::string& device, const Case& stated, Result& result, std::vector<std::string> kernels = {});

void add(const Case& stated, const Outcome& outcome, Result& result);

}  // namespace headscope::conformance
