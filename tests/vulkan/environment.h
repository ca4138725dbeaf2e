// Whether there is a device, and helpers for tests that set environment variables.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/stream/pipeline_cache.h"
#include "backends/vulkan/vulkan_backend.h"
#include "tests/house/environment.h"
#include "tests/house/open_options.h"

namespace headscope {

inline std::vector<DeviceInfo> list_vulkan_devices() {
    return VulkanDevices(environment_options()).list();
}
inline std::unique_ptr<Backend> open_vulkan_device(int index, const Diagnostics& diagnostics = {}) {
    return VulkanDevices(environment_options(diagnostics)).open(index);
}

}  // namespace headscope

namespace headscope::vulkan_tests {

using headscope::Environment;

// Prints why not. A failure if HEADSCOPE_REQUIRE_BACKENDS names vulkan.
inline bool usable_device() {
    const std::vector<DeviceInfo> devices = list_vulkan_devices();
    if (devices[0].rejected.empty()) {
        return true;
    }
    const char* required = std::getenv("HEADSCOPE_REQUIRE_BACKENDS");
    if (required != nullptr && std::string(required).find("vulkan") != std::string::npos) {
        FAIL_CHECK("vulkan is required: " << devices[0].rejected);
    } else {
        WARN("SKIPPED: " << devices[0].rejected);
    }
    return false;
}

inline std::string said_of(const std::vector<std::pair<std::string, std::string>>& list, const std::string& wanted) {
    for (const auto& [name, value] : list) {
        if (name == wanted) {
            return value;
        }
    }
    return "";
}

// The device's text for one of its limits or features; empty if missing.
inline std::string limit_of(const DeviceInfo& device, const std::string& wanted) {
    return said_of(device.limits, wanted);
}
inline std::string feature_of(const DeviceInfo& device, const std::string& wanted) {
    return said_of(device.features, wanted);
}

// The result of read_pipeline_cache for a file.
inline std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
    return vulkan::read_pipeline_cache(file.string());
}

}  // namespace headscope::vulkan_tests
