#include "registry/device_list.h"

#include <algorithm>
#include <set>

#include "registry/registry.h"
#include "support/usage_error.h"

namespace headscope {

std::vector<std::string> device_list(const std::string& wanted, const std::vector<DeviceInfo>& devices) {
    std::vector<std::string> ids;
    if (wanted == "all") {
        std::set<std::string> cards;  // by the backend that first lists a device of that name
        std::string backend_before;
        std::set<std::string> before;
        for (const DeviceInfo& device : devices) {
            if (device.backend != backend_before) {
                before = cards;
                backend_before = device.backend;
            }
            if (device.rejected.empty() && !device.software && before.count(device.name) == 0) {
                ids.push_back(device.id);
                cards.insert(device.name);
            }
        }
        return ids;
    }
    for (std::size_t begin = 0; begin <= wanted.size();) {
        const std::size_t end = std::min(wanted.find(',', begin), wanted.size());
        ids.push_back(wanted.substr(begin, end - begin));
        begin = end + 1;
    }
    if (ids.size() > 1 && std::find(ids.begin(), ids.end(), "") != ids.end()) {
        throw UsageError("--device " + wanted + " names an empty device: expected ids separated by commas, or all");
    }
    if (ids.size() > 1 && std::find(ids.begin(), ids.end(), "all") != ids.end()) {
        throw UsageError("--device " + wanted + " names all beside others: give all alone, or the devices one by one");
    }
    return ids;
}

std::vector<std::string> asked_devices(const std::string& given, const OpenOptions& options) {
    const std::string asked = asked_device(given, options.settings);
    return device_list(asked, asked == "all" ? list_devices(options) : std::vector<DeviceInfo>{});
}

bool names_several(const std::string& wanted) {
    return wanted == "all" || wanted.find(',') != std::string::npos;
}

std::vector<std::string> compared_devices(const std::vector<std::string>& wanted, const OpenOptions& options) {
    if (wanted.empty()) {
        const std::string asked = asked_device("", options.settings);
        return asked.empty() ? std::vector<std::string>{""} : compared_devices({asked}, options);
    }
    std::vector<std::string> ids;
    if (std::find(wanted.begin(), wanted.end(), "all") != wanted.end()) {
        for (const DeviceInfo& device : list_devices(options)) {
            if (device.rejected.empty()) {
                ids.push_back(device.id);
            }
        }
        return ids;
    }
    for (const std::string& each : wanted) {
        for (const std::string& id : device_list(each, {})) {
            ids.push_back(id);
        }
    }
    return ids;
}

}  // namespace headscope
