// The only place in src/ that knows which backends are built in. Variables such as HEADSCOPE_DEVICE come from
// OpenOptions::settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

// "cpu", "cuda" and so on: the backends that this program was built with.
std::vector<std::string> built_backends();

// Every device of every backend, usable or not: CUDA's, Vulkan's, the CPU last. Never throws for a missing loader,
// driver or CUDA module: such a backend is one entry whose `rejected` has the reason. Backends that are not built in
// are listed too.
std::vector<DeviceInfo> list_devices(const OpenOptions& options = {});

// Error if an installed Vulkan driver crashes when asked for its devices (backends/vulkan/device/driver_probe.h), or if
// a setting of the Vulkan backend is invalid. For a window, which is about to load the drivers itself. Does nothing in
// builds without the Vulkan backend.
void require_window_drivers(const OpenOptions& options);

// `wanted`: "cpu", "cpu:oracle" (double precision, for tests), "cuda", "vulkan", "vulkan:1", or "" for the default:
// HEADSCOPE_DEVICE if set, else the first real GPU, CUDA before Vulkan, else the CPU; never a software device. On a
// machine without a GPU drivers are not even loaded (registry/gpu_possible.h). Errors name what was wanted, the
// devices, and why each was rejected.
std::unique_ptr<Backend> open_device(const std::string& wanted, const OpenOptions& options = {});

// The same by a path of that device: one of its DeviceInfo::paths, or empty for the kernels that it chooses.
std::unique_ptr<Backend> open_device_by(const std::string& path, const std::string& wanted,
                                        const OpenOptions& options = {});

// `given`, or HEADSCOPE_DEVICE if that is empty. For commands that take several devices it may be a list
// (registry/device_list.h). Empty if neither is set.
std::string asked_device(const std::string& given, const Settings& settings);

// The settings of the Vulkan backend; empty if it was not built in.
std::vector<std::string> vulkan_settings();

// What open_device("") would choose from list_devices(): an id, or the value of HEADSCOPE_DEVICE.
std::string default_device(const std::vector<DeviceInfo>& devices, const Settings& settings);

}  // namespace headscope
