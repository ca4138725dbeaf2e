#include "backends/vulkan/options.h"

#include <cstdlib>
#include <sstream>

#include "support/check.h"

namespace headscope::vulkan {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

Options Options::from_environment() {
    Options options;
    const std::string validation = variable("HEADSCOPE_VULKAN_VALIDATION");
    options.validation = !validation.empty() && validation != "0";
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
        options.cache_directory = cache + "/headscope";
    } else if (const std::string home = variable("HOME"); !home.empty()) {
        options.cache_directory = home + "/.cache/headscope";
    }
    std::istringstream disabled(variable("HEADSCOPE_VULKAN_DISABLE"));
    for (std::string name; std::getline(disabled, name, ',');) {
        if (name == "push_descriptors") {
            options.push_descriptors = false;
        } else if (name == "subgroups") {
            options.subgroups = false;
        } else if (name == "pipeline_cache") {
            options.cache_directory.clear();
        } else {
            throw Error("HEADSCOPE_VULKAN_DISABLE names \"" + name +
                        "\"; expected push_descriptors, subgroups or pipeline_cache, separated by commas");
        }
    }
    return options;
}

}  // namespace headscope::vulkan
