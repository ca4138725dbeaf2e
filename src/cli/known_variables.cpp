#include "cli/known_variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/edit_distance.h"

namespace headscope {

namespace {

// All that docs/environment.md lists; tests/house/commands_test.sh compares them with the sources and with that page.
const std::vector<std::string>& known() {
    static const std::vector<std::string> names = {
        "HEADSCOPE_CUDA_CHECK",
        "HEADSCOPE_CUDA_DRIVER",
        "HEADSCOPE_CUDA_GRAPHS",
        "HEADSCOPE_CUDA_MODULES",
        "HEADSCOPE_DEVICE",
        "HEADSCOPE_MODEL",
        "HEADSCOPE_SCAN_NAN",
        "HEADSCOPE_THREADS",
        "HEADSCOPE_TRACE",
        "HEADSCOPE_VULKAN_DISABLE",
        "HEADSCOPE_VULKAN_EMULATE_MATRICES",
        "HEADSCOPE_VULKAN_HALF_CONVERSIONS",
        "HEADSCOPE_VULKAN_LOST_AT",
        "HEADSCOPE_VULKAN_MAX_BINDING",
        "HEADSCOPE_VULKAN_MAX_GROUPS",
        "HEADSCOPE_VULKAN_MAX_MEMORY",
        "HEADSCOPE_VULKAN_ROW_LANES",
        "HEADSCOPE_VULKAN_SUBGROUP_SIZE",
        "HEADSCOPE_VULKAN_TILES",
        "HEADSCOPE_VULKAN_TRIAL_ERROR",
        "HEADSCOPE_VULKAN_VALIDATION",
    };
    return names;
}

}  // namespace

std::vector<std::string> misspelt_variables(const char* const* environment) {
    std::vector<std::string> messages;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string text = *environment;
        const std::string name = text.substr(0, text.find('='));
        if (!name.starts_with("HEADSCOPE_") || std::find(known().begin(), known().end(), name) != known().end()) {
            continue;
        }
        if (const std::string meant = nearest(name, known()); !meant.empty()) {
            messages.push_back(fmt::format("{} is none of its variables; did you mean {}?", name, meant));
        }
    }
    return messages;
}

}  // namespace headscope
