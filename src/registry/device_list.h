// --device of commands that can use several devices. HEADSCOPE_DEVICE is its default.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

// Splits "vulkan:0,vulkan:1,cpu"; a device may be named twice. "all" is every usable device of `devices` including the
// CPU, without software devices and without cards that another backend lists already. A single name, or none, stays as
// it is. Error for an empty part. Does not read HEADSCOPE_DEVICE.
std::vector<std::string> device_list(const std::string& wanted, const std::vector<DeviceInfo>& devices);
// device_list() of this machine for asked_device(); {""}, the best device, if none is named.
std::vector<std::string> asked_devices(const std::string& given, const OpenOptions& options);

// Whether this is a list or "all", even of one device.
bool names_several(const std::string& wanted);

// Devices to compare with each other: the parts of `wanted`, where "all" means every usable device of this machine
// including software devices. {""} if none is named.
std::vector<std::string> compared_devices(const std::vector<std::string>& wanted, const OpenOptions& options);

}  // namespace headscope
