// The devices that whole-model tests run on.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "registry/registry.h"

namespace headscope {

// Every usable device, one of each backend. A backend that cannot be used is skipped with a warning; named in
// HEADSCOPE_REQUIRE_BACKENDS ("cpu,vulkan") it fails the test instead.
inline std::vector<std::string> devices_to_test() {
    const char* variable = std::getenv("HEADSCOPE_REQUIRE_BACKENDS");
    std::string required(variable == nullptr ? "" : variable);
    required.insert(0, 1, ',').push_back(',');
    std::vector<std::string> ids;
    std::vector<std::string> backends;
    for (const DeviceInfo& device : list_devices()) {
        const bool seen = std::find(backends.begin(), backends.end(), device.backend) != backends.end();
        if (device.rejected.empty() && !seen) {
            ids.push_back(device.id);
            backends.push_back(device.backend);
        } else if (!device.rejected.empty() && !seen) {
            const std::string reason = device.backend + " is not tested: " + device.rejected;
            if (required.find("," + device.backend + ",") != std::string::npos) {
                FAIL(reason);
            }
            WARN(reason);
        }
    }
    return ids;
}

}  // namespace headscope
