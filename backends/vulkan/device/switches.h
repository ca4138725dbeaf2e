// All switches of the backend: how each is parsed, which path sets it, and how it is documented.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

struct Capabilities;

struct Switch {
    const char* name = "";         // a variable, or in lower case a word of HEADSCOPE_VULKAN_DISABLE; "" if only a path
    const char* value = "";        // the values of a variable
    const char* meaning = "";      // as docs/environment.md has it
    bool Options::*off = nullptr;  // the option that a word disables, or else
    bool (*set)(Options& options, const std::string& value) = nullptr;  // false for an invalid value
    // The path of DeviceInfo::paths that sets it to `path_value` on devices where it is `offered`. A path ending in "-"
    // is followed by its value; without any value `set` gets the device's subgroup size.
    const char* path = "";
    const char* path_value = "";
    bool (*offered)(const Capabilities& found, const Options& options) = nullptr;

    bool is_variable() const { return *name >= 'A' && *name <= 'Z'; }
    bool path_takes_value() const { return std::string_view(path).ends_with('-'); }
    bool has_path(std::string_view wanted) const {
        return *path != '\0' && (path_takes_value() ? wanted.starts_with(path) : wanted == path);
    }
    bool is_word() const { return *name != '\0' && !is_variable(); }
    // Disables the word's option, or sets the variable. False for an invalid value.
    bool apply(Options& options, const std::string& to) const;
};

// In the order of DeviceInfo::paths.
std::span<const Switch> switches();

}  // namespace headscope::vulkan
