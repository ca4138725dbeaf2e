// The one place where src/ knows which backends were built in. Variables such as HEADSCOPE_DEVICE are those of
// OpenOptions::settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope {

// Every device of every backend, usable or not: CUDA's, Vulkan's, the CPU last. Never throws for a missing loader,
// driver or CUDA module: such a backend is one entry whose `rejected` says why. Backends left out of the build are
// listed too.
std::vector<DeviceInfo> list_devices(const OpenOptions& options = {});

// Error where an installed Vulkan driver crashes when it is asked for its devices
// (backends/vulkan/device/driver_probe.h), or a setting of the Vulkan backend asks for what there is not: for a
// window, which is about to load the drivers by itself. Builds without the Vulkan backend ask no driver.
void require_window_drivers(const OpenOptions& options);

// `wanted`: "cpu", "cpu:oracle" (double precision, for tests), "cuda", "vulkan", "vulkan:1", or "" for the
// default: HEADSCOPE_DEVICE where set, else the first real GPU of the list, by CUDA before by Vulkan, else the CPU;
// never a GPU that the CPU plays. Drivers are not even loaded on a machine that has no GPU (registry/gpu_possible.h).
// Error names what was wanted, what there is and why it was rejected.
std::unique_ptr<Backend> open_device(const std::string& wanted, const OpenOptions& options = {});

// The same by a path of that device: one of its DeviceInfo::paths, or empty for the kernels that it takes of itself.
std::unique_ptr<Backend> open_device_by(const std::string& path, const std::string& wanted,
                                        const OpenOptions& options = {});

// `given`, or where that is empty HEADSCOPE_DEVICE, which for commands that take a list of devices may hold one
// (registry/device_list.h). Empty where neither says anything.
std::string asked_device(const std::string& given, const Settings& settings);

// The settings of the Vulkan backend, which lists them itself; none if it was not built in.
std::vector<std::string> vulkan_settings();

// What open_device("") would take of list_devices(): an id, or HEADSCOPE_DEVICE as it is.
std::string default_device(const std::vector<DeviceInfo>& devices, const Settings& settings);

}  // namespace headscope
