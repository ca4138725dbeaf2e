#include "backends/vulkan/device/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "backends/vulkan/device/switches.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr const char* kDisable = "HEADSCOPE_VULKAN_DISABLE";

// `words` are separated by commas.
void disable(Options& options, const std::string& words) {
    std::istringstream rest(words);
    for (std::string word; std::getline(rest, word, ',');) {
        const auto found = std::find_if(switches().begin(), switches().end(),
                                        [&](const Switch& each) { return each.is_word() && word == each.name; });
        if (found == switches().end()) {
            std::vector<std::string> known;
            for (const Switch& each : switches()) {
                if (each.is_word()) {
                    known.emplace_back(each.name);
                }
            }
            throw Error(fmt::format("{} names \"{}\"; expected words out of {}, separated by commas", kDisable, word,
                                    fmt::join(known, ", ")));
        }
        found->apply(options, "");
    }
}

// The variable that is set and changes which products are fast; null if there is none.
const char* overrides_product_choice(const Options& options) {
    return options.emulated_matrices    ? "HEADSCOPE_VULKAN_EMULATE_MATRICES"
           : options.subgroup_size != 0 ? "HEADSCOPE_VULKAN_SUBGROUP_SIZE"
                                        : nullptr;
}

}  // namespace

Options Options::from(const OpenOptions& open_options) {
    const Settings& settings = open_options.settings;
    Options options;
    options.diagnostics = open_options.diagnostics;
    if (const std::string cache = settings.get("XDG_CACHE_HOME"); !cache.empty()) {
        options.cache_directory = cache + "/headscope";
    } else if (const std::string home = settings.get("HOME"); !home.empty()) {
        options.cache_directory = home + "/.cache/headscope";
    }
    for (const Switch& each : switches()) {
        const std::string value = each.is_variable() ? settings.get(each.name) : "";
        if (!value.empty() && !each.apply(options, value)) {
            throw Error(fmt::format("{} is \"{}\"; expected {}", each.name, value, each.value));
        }
        options.given += value.empty() ? "" : fmt::format("{}={} ", each.name, value);
    }
    options.tuning = overrides_product_choice(options) == nullptr;
    disable(options, settings.get(kDisable));
    options.given += settings.get(kDisable);
    return options;
}

std::string why_not_tuned(const Options& options) {
    if (const char* set = overrides_product_choice(options); set != nullptr) {
        return std::string("products are not tuned while ") + set +
               " is set: what is fastest with it is not what is fastest without; unset it";
    }
    if (!options.tuning) {
        return "tuning results cannot be saved: remove tuning from HEADSCOPE_VULKAN_DISABLE";
    }
    return !options.cache_directory.empty() ? ""
                                            : "tuning results cannot be saved: set HOME or XDG_CACHE_HOME, and "
                                              "remove pipeline_cache from HEADSCOPE_VULKAN_DISABLE";
}

Options with_path(Options options, const std::string& path, std::uint32_t subgroup_size) {
    options.tuning = options.tuning && path.empty();  // a path is not to be replaced by what was measured as faster
    if (path.empty()) {
        return options;
    }
    const auto found =
        std::find_if(switches().begin(), switches().end(), [&](const Switch& each) { return each.has_path(path); });
    HEADSCOPE_CHECK(found != switches().end(), "unknown path " + path);
    const std::string value = found->path_takes_value()    ? path.substr(std::string(found->path).size())
                              : *found->path_value != '\0' ? found->path_value
                                                           : std::to_string(subgroup_size);
    HEADSCOPE_CHECK(found->apply(options, value), "a path with a wrong value: " + path);
    options.given += " " + path;
    return options;
}

}  // namespace headscope::vulkan
