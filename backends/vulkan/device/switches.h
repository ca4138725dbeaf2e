// Every switch of the backend, once: what parses it, which path sets it, and what the documentation says of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

struct Capabilities;

struct Switch {
    const char* name = "";   // a variable, or in small letters a word of HEADSCOPE_VULKAN_DISABLE; "" for a path alone
    const char* value = "";  // what a variable may be
    const char* meaning = "";                                           // as docs/environment.md has it
    bool Options::*off = nullptr;                                       // what a word switches off, or else
    bool (*set)(Options& options, const std::string& value) = nullptr;  // false for a value that means nothing
    // The path of DeviceInfo::paths that sets it, to `path_value`, on a device where that is `offered`. One that ends
    // in "-" is followed by its value; without any value `set` gets the device's subgroup size.
    const char* path = "";
    const char* path_value = "";
    bool (*offered)(const Capabilities& found, const Options& options) = nullptr;

    bool is_variable() const { return *name >= 'A' && *name <= 'Z'; }
    bool path_takes_value() const { return std::string_view(path).ends_with('-'); }
    bool has_path(std::string_view wanted) const {
        return *path != '\0' && (path_takes_value() ? wanted.starts_with(path) : wanted == path);
    }
    bool is_word() const { return *name != '\0' && !is_variable(); }
    // Switches the word off, or sets the variable. False for a value that means nothing.
    bool apply(Options& options, const std::string& to) const;
};

// In the order of DeviceInfo::paths.
std::span<const Switch> switches();

}  // namespace headscope::vulkan
