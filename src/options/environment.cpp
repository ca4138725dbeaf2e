#include "options/environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "registry/registry.h"
#include "support/edit_distance.h"

namespace headscope {

// HEADSCOPE_ variables, then those of the system that we use.
const std::vector<std::string>& known_variables() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = vulkan_settings();
        all.insert(all.end(), {
                                  "HEADSCOPE_CHECK_REPLAYS",
                                  "HEADSCOPE_CUDA_CHECK",
                                  "HEADSCOPE_CUDA_DISABLE",
                                  "HEADSCOPE_CUDA_DRIVER",
                                  "HEADSCOPE_CUDA_GRAPHS",
                                  "HEADSCOPE_CUDA_MODULES",
                                  "HEADSCOPE_CUDA_NCCL",
                                  "HEADSCOPE_DEVICE",
                                  "HEADSCOPE_MODEL",
                                  "HEADSCOPE_MPI_MODULES",
                                  "HEADSCOPE_SCAN_NAN",
                                  "HEADSCOPE_THREADS",
                                  "HEADSCOPE_TRACE",
                                  "CUDA_VISIBLE_DEVICES",
                                  "DBUS_SESSION_BUS_ADDRESS",
                                  "DISPLAY",
                                  "HOME",
                                  "LP_NATIVE_VECTOR_WIDTH",
                                  "MPI_LOCALRANKID",
                                  "NO_COLOR",
                                  "OMPI_COMM_WORLD_RANK",
                                  "OMPI_COMM_WORLD_SIZE",
                                  "PMIX_RANK",
                                  "PMI_RANK",
                                  "PMI_SIZE",
                                  "SLURM_NTASKS",
                                  "SLURM_PROCID",
                                  "SLURM_STEP_ID",
                                  "SLURM_STEP_NUM_TASKS",
                                  "TERM",
                                  "VK_ADD_DRIVER_FILES",
                                  "VK_DRIVER_FILES",
                                  "VK_ICD_FILENAMES",
                                  "VK_LOADER_DRIVERS_DISABLE",
                                  "VK_LOADER_DRIVERS_SELECT",
                                  "WAYLAND_DISPLAY",
                                  "XDG_CACHE_HOME",
                                  "XDG_CONFIG_DIRS",
                                  "XDG_CONFIG_HOME",
                                  "XDG_DATA_DIRS",
                                  "XDG_DATA_HOME",
                              });
        return all;
    }();
    return names;
}

namespace {

bool is_known(const std::string& name) {
    return std::find(known_variables().begin(), known_variables().end(), name) != known_variables().end();
}

}  // namespace

Settings read_environment(const char* const* environment) {
    Settings settings;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string text = *environment;
        const std::size_t sign = text.find('=');
        if (sign != std::string::npos && is_known(text.substr(0, sign))) {
            settings.set(text.substr(0, sign), text.substr(sign + 1));
        }
    }
    return settings;
}

std::vector<std::string> misspelt_variables(const char* const* environment) {
    std::vector<std::string> messages;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string text = *environment;
        const std::string name = text.substr(0, text.find('='));
        if (!name.starts_with("HEADSCOPE_") || is_known(name)) {
            continue;
        }
        if (const std::string meant = nearest(name, known_variables()); !meant.empty()) {
            messages.push_back(fmt::format("unknown environment variable {}; did you mean {}?", name, meant));
        }
    }
    return messages;
}

}  // namespace headscope
