// Which devices the tests use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope::conformance {

struct Selection {
    std::vector<std::string> ids;       // to be tested, by id
    std::vector<std::string> skipped;   // one line for each backend without a usable device
    std::vector<std::string> failures;  // the same if the backend is required
};

// `only`: HEADSCOPE_TEST_DEVICES, backends or ids such as "cpu,vulkan:0", empty for all. `required`:
// HEADSCOPE_REQUIRE_BACKENDS, backends that must be there.
Selection select_devices(const std::vector<DeviceInfo>& devices, const std::string& only, const std::string& required);

// select_devices() for this machine and environment. Prints what is skipped, once a run, and fails the running test if
// something required is missing.
std::vector<std::string> devices_under_test();

// Whether the oracle is compared with its own results: if no devices are named. Its handling of layouts does not depend
// on the other devices.
bool holds_oracle();

// Those that store activations and weights in F16 and BF16 (arithmetic_for). Reports the others.
std::vector<std::string> devices_with_storage();

}  // namespace headscope::conformance
