// --device of commands that can use several devices. HEADSCOPE_DEVICE is its default.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

// Splits "vulkan:0,vulkan:1,cpu"; a device may be named twice. "all" is every usable device of `devices` including the
// CPU, without software devices and without cards that another backend lists already; "all+software" is every usable
// device. A single name, or none, stays as it is. Error for an empty part. Does not read HEADSCOPE_DEVICE.
std::vector<std::string> device_list(const std::string& wanted, const std::vector<DeviceInfo>& devices);
// device_list() of this machine for asked_device(); {""}, the best device, if none is named.
std::vector<std::string> asked_devices(const std::string& given, const OpenOptions& options);
// The same for several such lists.
std::vector<std::string> asked_devices(const std::vector<std::string>& given, const OpenOptions& options);

// Whether this is "all" or "all+software".
bool names_all(const std::string& wanted);
// Whether this is a list or one of those, even of one device.
bool names_several(const std::string& wanted);

}  // namespace headscope
