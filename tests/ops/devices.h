// Which devices a run of the tests is about.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope::conformance {

struct Selection {
    std::vector<std::string> ids;       // to be tested, by id
    std::vector<std::string> skipped;   // one line for each backend of which there is no usable device
    std::vector<std::string> failures;  // the same where the backend is required
};

// `only`: HEADSCOPE_TEST_DEVICES, backends or ids such as "cpu,vulkan:0", empty for all. `required`:
// HEADSCOPE_REQUIRE_BACKENDS, backends that must be there.
Selection select_devices(const std::vector<DeviceInfo>& devices, const std::string& only, const std::string& required);

// select_devices() of this machine and environment. Prints what is skipped, once a run, and fails the running test for
// what is required and missing.
std::vector<std::string> devices_under_test();

// Whether the oracle is held to its own results, too: where no devices are named. What it makes of a layout is the same
// whatever else is tested.
bool holds_oracle();

// Those of them that store activations and weights in F16 and BF16 (arithmetic_for). Says which do not.
std::vector<std::string> devices_with_storage();

}  // namespace headscope::conformance
