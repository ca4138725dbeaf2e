// Sums, extremes and exchanges within a subgroup, by which rows are reduced: drivers are known that get them wrong
// (llama.cpp's 15846 and 20029, both of MoltenVK on AMD's), and every kernel has a form that reduces through shared
// memory.
#pragma once

#include <string>

#include "backend/backend.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

// Whether a device is to be held to it when it is opened.
bool subgroups_on_trial(const Capabilities& found, const Options& options);

// What is wrong with what a device makes of them, held against the host; empty if nothing is. It waits for three small
// kernels. Error where they cannot be run at all.
std::string subgroup_complaint(Backend& backend);

// Has the list of features say why those that `before` had are there no more, and warns.
void report_disabled_subgroups(const DeviceInfo& before, const std::string& why, DeviceInfo& now,
                               const Diagnostics& diagnostics);

}  // namespace headscope::vulkan
