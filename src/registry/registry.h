// The one place where src/ knows which backends were built in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// Every device of every backend built in, usable or not, the CPU last. Never throws for a missing loader or driver:
// such a backend is one entry whose `rejected` says why. Backends left out of the build are listed too.
std::vector<DeviceInfo> list_devices();

// `wanted`: "cpu", "cpu:oracle" (double precision, for tests), "vulkan", "vulkan:1", or "" for the default:
// HEADSCOPE_DEVICE where set, else the best real GPU, else the CPU. Error names what was wanted, what there is and why
// it was rejected.
std::unique_ptr<Backend> open_device(const std::string& wanted);

// The id that open_device("") would take.
std::string default_device();

}  // namespace headscope
