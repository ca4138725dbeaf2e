// What was built, and what there is.
#include <dlfcn.h>

#include <nlohmann/json.hpp>

#include "answers/model_json.h"
#include "capi/engines.h"
#include "capi/failures.h"
#include "capi/options.h"
#include "capi/text.h"
#include "infer/model_lookup.h"
#include "io/usual_places.h"
#include "options/version.h"
#include "registry/registry.h"

namespace headscope {

std::vector<std::filesystem::path> search_path(const std::vector<std::string>& wanted) {
    std::vector<std::filesystem::path> path(wanted.begin(), wanted.end());
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&hs_version), &self) != 0 && self.dli_fname != nullptr) {
        std::error_code failure;
        const std::filesystem::path file = std::filesystem::canonical(self.dli_fname, failure);
        for (const std::filesystem::path& place :
             failure ? std::vector<std::filesystem::path>() : places_around(file)) {
            path.push_back(place);
        }
    }
    return path;
}

}  // namespace headscope

using headscope::ChosenOptions;
using headscope::give;
using headscope::guarded;
using Json = nlohmann::ordered_json;

uint32_t hs_version() {
    return HS_VERSION;
}

hs_status hs_about(hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        const Json about{{"version", headscope::program_version()},
                         {"commit", headscope::program_commit()},
                         {"abi", HS_ABI},
                         {"backends", headscope::built_backends()}};
        give(json, about.dump());
    });
}

hs_status hs_devices(const hs_options* options, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        const headscope::OpenOptions open{.settings = ChosenOptions(options, headscope::kDevices).settings()};
        const std::vector<headscope::DeviceInfo> devices = headscope::list_devices(open);
        give(json, headscope::devices_json(devices, headscope::default_device(devices, open.settings)).dump());
    });
}

hs_status hs_models(const hs_options* options, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        const ChosenOptions chosen(options, headscope::kModels);
        Json list = Json::array();
        for (const auto& [name, path] : headscope::bundled_models(headscope::search_path(chosen.texts("path")))) {
            list.push_back({{"name", name}, {"path", path}});
        }
        give(json, list.dump());
    });
}
