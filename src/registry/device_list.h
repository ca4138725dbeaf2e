// --device of the commands that work on several devices at once. Where it is not given, HEADSCOPE_DEVICE is taken as it
// would be.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

// "vulkan:0,vulkan:1,cpu" in its parts, a device as often as it is named. "all" is every device of `devices` that can
// be used, the CPU among them, but for those that the CPU plays, and for a card that is there by another interface
// already. One part, or none, is as it is. Error for an empty part. Does not look at HEADSCOPE_DEVICE.
std::vector<std::string> device_list(const std::string& wanted, const std::vector<DeviceInfo>& devices);
// device_list() of this machine for asked_device(); {""}, the best device, where nobody names any.
std::vector<std::string> asked_devices(const std::string& given, const OpenOptions& options);

// Whether this is a list, or "all", be it of one device.
bool names_several(const std::string& wanted);

// The devices that are to be held against each other: each of `wanted` in its parts, but where one of them is "all",
// every device of this machine that can be used, those that the CPU plays among them. {""} where nobody names any.
std::vector<std::string> compared_devices(const std::vector<std::string>& wanted, const OpenOptions& options);

}  // namespace headscope
