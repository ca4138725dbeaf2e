#include "backends/vulkan/device/options.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <sstream>

#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Of a setting, or of a part of one.
template <class Number>
Number number(const char* name, const std::string& text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && (error != std::errc{} || end != text.data() + text.size())) {
        throw Error(std::string(name) + " is \"" + text + "\"; expected a whole number");
    }
    return value;
}

template <class Number>
Number number(const Settings& settings, const char* name) {
    return number<Number>(name, settings.get(name));
}

struct Switch {
    const char* name;
    void (*off)(Options&);
};
constexpr Switch kSwitches[] = {
    {"push_descriptors", [](Options& options) { options.push_descriptors = false; }},
    {"subgroups", [](Options& options) { options.subgroups = false; }},
    {"subgroup_trial", [](Options& options) { options.subgroup_trial = false; }},
    {"uniform_control_flow", [](Options& options) { options.uniform_control_flow = false; }},
    {"vector_loads", [](Options& options) { options.vector_loads = false; }},
    {"texel_loads", [](Options& options) { options.texel_loads = false; }},
    {"transfers", [](Options& options) { options.transfers = false; }},
    {"cooperative_matrix", [](Options& options) { options.cooperative_matrix = false; }},
    {"matrix_trial", [](Options& options) { options.matrix_trial = false; }},
    {"fused_attention", [](Options& options) { options.fused_attention = FusedAttention::Never; }},
    {"storage16", [](Options& options) { options.storage16 = false; }},
    {"half_conversions", [](Options& options) { options.half_conversions = HalfConversions::Never; }},
    {"half_trial", [](Options& options) { options.half_trial = false; }},
    {"tuning", [](Options& options) { options.tuning = false; }},
    {"replays", [](Options& options) { options.replays = false; }},
    {"timestamps", [](Options& options) { options.timestamps = false; }},
    {"pipeline_threads", [](Options& options) { options.pipeline_threads = false; }},
    {"driver_probe", [](Options& options) { options.driver_probe = false; }},
    {"pipeline_cache", [](Options& options) { options.cache_directory.clear(); }},
};

// `names`: of kSwitches, separated by commas.
void disable(Options& options, const std::string& names) {
    std::istringstream rest(names);
    for (std::string name; std::getline(rest, name, ',');) {
        const auto* const found = std::find_if(std::begin(kSwitches), std::end(kSwitches),
                                               [&name](const Switch& each) { return name == each.name; });
        if (found == std::end(kSwitches)) {
            std::string known;
            for (const Switch& each : kSwitches) {
                known += (known.empty()                      ? ""
                          : &each == std::end(kSwitches) - 1 ? " or "
                                                             : ", ") +
                         std::string(each.name);
            }
            throw Error("HEADSCOPE_VULKAN_DISABLE names \"" + name + "\"; expected " + known + ", separated by commas");
        }
        found->off(options);
    }
}

// The variable that is set and makes other products fast than are without it; null where there is none.
const char* bends_products(const Options& options) {
    return options.emulated_matrices    ? "HEADSCOPE_VULKAN_EMULATE_MATRICES"
           : options.subgroup_size != 0 ? "HEADSCOPE_VULKAN_SUBGROUP_SIZE"
                                        : nullptr;
}

}  // namespace

Options Options::from(const OpenOptions& open_options) {
    const Settings& settings = open_options.settings;
    Options options;
    options.diagnostics = open_options.diagnostics;
    options.validation = settings.on("HEADSCOPE_VULKAN_VALIDATION");
    options.emulated_matrices = settings.on("HEADSCOPE_VULKAN_EMULATE_MATRICES");
    if (settings.on("HEADSCOPE_VULKAN_HALF_CONVERSIONS")) {
        options.half_conversions = HalfConversions::Always;
    }
    constexpr const char* kTrialError = "HEADSCOPE_VULKAN_TRIAL_ERROR";
    if (const std::string error = settings.get(kTrialError); !error.empty()) {
        const std::size_t slash = error.find('/');
        if (slash == 0 || slash == error.size() - 1) {
            throw Error(std::string(kTrialError) + " is \"" + error + "\"; expected millionths, or millionths/side");
        }
        options.trial_error = {
            number<std::uint32_t>(kTrialError, error.substr(0, slash)),
            slash == std::string::npos ? 0 : number<std::uint32_t>(kTrialError, error.substr(slash + 1))};
    }
    if (const std::string cache = settings.get("XDG_CACHE_HOME"); !cache.empty()) {
        options.cache_directory = cache + "/headscope";
    } else if (const std::string home = settings.get("HOME"); !home.empty()) {
        options.cache_directory = home + "/.cache/headscope";
    }
    constexpr std::uint64_t kMostMebibytes = std::uint64_t{1} << 40U;
    options.max_memory_bytes = std::min(number<std::uint64_t>(settings, "HEADSCOPE_VULKAN_MAX_MEMORY"), kMostMebibytes)
                               << 20U;
    options.max_binding_bytes = number<std::uint64_t>(settings, "HEADSCOPE_VULKAN_MAX_BINDING");
    options.max_groups = number<std::uint32_t>(settings, "HEADSCOPE_VULKAN_MAX_GROUPS");
    options.lost_at_submission = number<std::uint64_t>(settings, "HEADSCOPE_VULKAN_LOST_AT");
    options.subgroup_size = number<std::uint32_t>(settings, "HEADSCOPE_VULKAN_SUBGROUP_SIZE");
    options.row_lanes = number<std::uint32_t>(settings, "HEADSCOPE_VULKAN_ROW_LANES");
    if (options.row_lanes > kMostRowLanes || (options.row_lanes & (options.row_lanes - 1)) != 0) {
        throw Error("HEADSCOPE_VULKAN_ROW_LANES is " + std::to_string(options.row_lanes) +
                    "; expected a power of two, at most " + std::to_string(kMostRowLanes));
    }
    if (const std::string tiles = settings.get("HEADSCOPE_VULKAN_TILES"); tiles == "shared") {
        options.tiles = ProductTiles::Shared;
    } else if (tiles == "none") {
        options.tiles = ProductTiles::None;
    } else if (!tiles.empty()) {
        throw Error("HEADSCOPE_VULKAN_TILES is \"" + tiles + "\"; expected shared or none");
    }
    options.tuning = bends_products(options) == nullptr;
    disable(options, settings.get("HEADSCOPE_VULKAN_DISABLE"));
    return options;
}

std::string why_not_tuned(const Options& options) {
    if (const char* set = bends_products(options); set != nullptr) {
        return std::string("products are not tuned while ") + set +
               " is set: what is fastest with it is not what is fastest without; unset it";
    }
    if (!options.tuning) {
        return "HEADSCOPE_VULKAN_DISABLE names tuning: what were found could not be kept; take it out";
    }
    return !options.cache_directory.empty() ? ""
                                            : "there is no folder to keep in what would be found: HOME or "
                                              "XDG_CACHE_HOME has to name one, and HEADSCOPE_VULKAN_DISABLE must not "
                                              "name pipeline_cache";
}

Options with_path(Options options, const std::string& path, std::uint32_t subgroup_size) {
    options.tuning = options.tuning && path.empty();  // a path is what it says, whatever was faster once
    if (path == path::kNoSubgroups) {
        options.subgroups = false;
    } else if (path.starts_with(path::kSubgroupsOf)) {
        options.subgroup_size = number<std::uint32_t>("the path", path.substr(std::strlen(path::kSubgroupsOf)));
    } else if (path == path::kSharedTiles) {
        options.tiles = ProductTiles::Shared;
    } else if (path == path::kNoSharedTiles) {
        options.tiles = ProductTiles::None;
    } else if (path == path::kLargeTiles) {
        options.tiles = ProductTiles::Shared;
        options.tile = kLargeTile;
    } else if (path == path::kNoVectorLoads) {
        options.vector_loads = false;
    } else if (path == path::kNoTexelLoads) {
        options.texel_loads = false;
    } else if (path == path::kNoTransfers) {
        options.transfers = false;
    } else if (path == path::kNoCooperativeMatrix) {
        options.cooperative_matrix = false;
    } else if (path == path::kEmulatedMatrices) {
        options.emulated_matrices = true;
    } else if (path == path::kLargeMatrixTiles) {
        options.matrix_side = kLargeMatrixSide;
    } else if (path == path::kEmulatedLargeMatrixTiles) {
        options.emulated_matrices = true;
        options.matrix_side = kLargeMatrixSide;
    } else if (path == path::kHalfConversions) {
        options.half_conversions = HalfConversions::Always;
    } else if (path == path::kNoHalfConversions) {
        options.half_conversions = HalfConversions::Never;
    } else if (path == path::kNoFusedAttention) {
        options.fused_attention = FusedAttention::Never;
    } else if (path == path::kFusedAttention) {
        options.fused_attention = FusedAttention::Always;
    } else if (path == path::kNoPushDescriptors) {
        options.push_descriptors = false;
    } else if (path == path::kOneSubgroup) {
        options.row_lanes = subgroup_size;
    } else if (path == path::kSeveralSubgroups) {
        options.row_lanes = std::min(8 * subgroup_size, kMostRowLanes);
    } else if (path == path::kSmallBindings) {
        options.max_binding_bytes = std::uint64_t{320} << 10U;  // room for more ids than a grid has groups
        options.max_groups = 100;
    } else {
        HEADSCOPE_CHECK(path.empty(), "unknown path " + path);
    }
    return options;
}

}  // namespace headscope::vulkan
