#include "conformance/settings.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::conformance {

namespace {

bool changes_what_runs(std::string_view name) {
    constexpr std::array<std::string_view, 4> kOfDrivers{"LP_NATIVE_VECTOR_WIDTH", "VK_ADD_DRIVER_FILES",
                                                         "VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
    return name.starts_with("HEADSCOPE_") || std::find(kOfDrivers.begin(), kOfDrivers.end(), name) != kOfDrivers.end();
}

}  // namespace

RunSettings settings_of(const Settings& settings) {
    RunSettings found(settings.all().begin(), settings.all().end());
    std::erase_if(found, [](const auto& each) { return !changes_what_runs(each.first); });
    return found;
}

}  // namespace headscope::conformance
