// Holds every device against the double-precision oracle, one case at a time: in every layout its operands may have,
// overwriting and adding, in place where the op allows it, with sentinels round every operand, twice for equal bits.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "placement.h"

namespace headscope::conformance {

// Every way in which the harness runs a case.
std::vector<Variant> variants_of(const Case& stated);

// The storages in which a device runs a case beside that of its own real type: those that its op has natively, where
// the case has operands that may be of them.
std::vector<DType> storages_of(const Backend& device, const Case& stated);

// Every promise that `device` breaks, in words. `oracle` is "cpu:oracle".
std::vector<std::string> complaints(Backend& device, Backend& oracle, const Case& stated);

// Runs the cases on the oracle itself and on every device under test, and fails the running test for each complaint.
// Each case runs in F32 and in every one of storages_of().
// Says which ops a device composes of others, or does not have in the case's dtype.
void check_on_every_device(const std::vector<Case>& cases);

}  // namespace headscope::conformance
