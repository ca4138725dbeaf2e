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

Settings settings_of(const char* const* environment) {
    Settings found;
    for (const char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        const std::string_view entry = *each;
        const std::size_t sign = entry.find('=');
        if (sign != std::string_view::npos && changes_what_runs(entry.substr(0, sign))) {
            found.emplace_back(entry.substr(0, sign), entry.substr(sign + 1));
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace headscope::conformance
