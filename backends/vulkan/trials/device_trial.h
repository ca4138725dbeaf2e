// Some drivers compute wrong results with features that they list. Before such a feature is used, a trial compares
// small results with the host's. Verdicts are kept on disk for each device, driver, set of shaders and set of options.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

struct DeviceTrial {
    std::string name;
    const char* feature;  // of DeviceInfo::features
    const char* word;     // of HEADSCOPE_VULKAN_DISABLE
    std::function<bool(const Capabilities& found, const Options& options)> applies;
    std::function<std::string(Backend& backend, const Options& options)> complaint;  // what is wrong; empty if nothing
    std::function<void(Options& options)> disable;
};

// Kernels that reduce or exchange values within a subgroup. Reported: llama.cpp 15846 and 20029 (MoltenVK on AMD).
std::string subgroup_complaint(Backend& backend, const Options& options);
// F16 widened by the device's conversion: Vulkan lets it flush subnormal numbers.
std::string half_complaint(Backend& backend, const Options& options);
// Products of F16 or BF16 by matrices of this tile.
std::string matrix_complaint(Backend& backend, const Options& options, const MatrixTile& tile, bool bf16);

// Attention by matrices, forward and backward. `trial_error` has this side where it is to err, but no tile.
inline constexpr std::uint32_t kTrialSideOfAttention = 16;
std::string matrix_attention_complaint(Backend& backend, const Options& options);

struct TrialDevice {
    std::function<Probe(const Options& options)> probe;
    std::function<std::unique_ptr<Backend>(const Probe& probe, const Options& options)> open;
};

// Disables in `options` each feature that fails its trial, and warns. Returns what is left of the device. Software
// devices have no trials: our tests and `headscope conform` run on them.
Probe pass_trials(const TrialDevice& device, Options& options);

}  // namespace headscope::vulkan
