#include "registry/gpu_possible.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace headscope {

namespace {

namespace fs = std::filesystem;

bool driver_named(const Settings& settings) {
    constexpr std::array kNames{"HEADSCOPE_CUDA_DRIVER", "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"};
    return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return !settings.get(name).empty(); });
}

// True for a folder that cannot be read: a GPU may be there.
template <class Wanted>
bool any_entry(const std::string& folder, const Wanted& wanted) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (wanted(*entry)) {
            return true;
        }
    }
    return static_cast<bool>(error);
}

bool is_driver_file(const fs::directory_entry& entry) {
    constexpr std::array<std::string_view, 10> kStarts{"dri", "nvidia", "nvhost", "nvgpu", "nvmap",
                                                       "dxg", "kfd",    "kgsl",   "mali",  "pvr"};
    const std::string name = entry.path().filename().string();
    return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

// The PCI class's first byte: 0x03 is a display controller, 0x12 a processing accelerator.
bool is_pci_gpu(const fs::directory_entry& entry) {
    std::ifstream file(entry.path() / "class");
    std::string text;
    return !std::getline(file, text) || text.starts_with("0x03") || text.starts_with("0x12");
}

}  // namespace

bool gpu_possible(const Settings& settings, const std::string& root) {
    if (driver_named(settings) || any_entry(root + "/dev", is_driver_file)) {
        return true;
    }
    std::error_code ignored;
    if (!fs::exists(root + "/sys/bus", ignored)) {
        return true;
    }
    const std::string pci = root + "/sys/bus/pci/devices";
    return fs::exists(pci, ignored) && any_entry(pci, is_pci_gpu);
}

}  // namespace headscope
