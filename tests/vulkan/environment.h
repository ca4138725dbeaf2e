// Environment variables for the length of a test, and whether there is a device at all.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/vulkan/pipeline_cache.h"
#include "backends/vulkan/vulkan_backend.h"

namespace headscope::vulkan_tests {

class Environment {
public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) {
            before_ = before;
        }
        setenv(name, value.c_str(), 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        if (before_) {
            setenv(name_.c_str(), before_->c_str(), 1);
        } else {
            unsetenv(name_.c_str());
        }
    }

private:
    std::string name_;
    std::optional<std::string> before_;
};

// Says why not. A failure where HEADSCOPE_REQUIRE_BACKENDS names vulkan.
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

// What read_pipeline_cache makes of a file.
inline std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
    return vulkan::read_pipeline_cache(file.string());
}

}  // namespace headscope::vulkan_tests
