#include "registry/device_list.h"

#include <algorithm>
#include <set>

#include "registry/registry.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

constexpr const char* kHardware = "all";
constexpr const char* kEverything = "all+software";

// Of backends that list the same card, the first.
std::vector<std::string> hardware(const std::vector<DeviceInfo>& devices) {
    std::vector<std::string> ids;
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

std::vector<std::string> usable(const std::vector<DeviceInfo>& devices) {
    std::vector<std::string> ids;
    for (const DeviceInfo& device : devices) {
        if (device.rejected.empty()) {
            ids.push_back(device.id);
        }
    }
    return ids;
}

}  // namespace

bool names_all(const std::string& wanted) {
    return wanted == kHardware || wanted == kEverything;
}

std::vector<std::string> device_list(const std::string& wanted, const std::vector<DeviceInfo>& devices) {
    if (names_all(wanted)) {
        return wanted == kHardware ? hardware(devices) : usable(devices);
    }
    std::vector<std::string> ids;
    for (std::size_t begin = 0; begin <= wanted.size();) {
        const std::size_t end = std::min(wanted.find(',', begin), wanted.size());
        ids.push_back(wanted.substr(begin, end - begin));
        begin = end + 1;
    }
    if (ids.size() > 1 && std::find(ids.begin(), ids.end(), "") != ids.end()) {
        throw UsageError("--device " + wanted + " names an empty device: expected ids separated by commas, or all");
    }
    if (ids.size() > 1 && std::any_of(ids.begin(), ids.end(), names_all)) {
        throw UsageError("--device " + wanted + " names all beside others: give all alone, or the devices one by one");
    }
    return ids;
}

std::vector<std::string> asked_devices(const std::string& given, const OpenOptions& options) {
    const std::string asked = asked_device(given, options.settings);
    return device_list(asked, names_all(asked) ? list_devices(options) : std::vector<DeviceInfo>{});
}

std::vector<std::string> asked_devices(const std::vector<std::string>& given, const OpenOptions& options) {
    std::vector<std::string> ids;
    for (const std::string& each : given.empty() ? std::vector<std::string>{""} : given) {
        const std::vector<std::string> more = asked_devices(each, options);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    return ids;
}

bool names_several(const std::string& wanted) {
    return names_all(wanted) || wanted.find(',') != std::string::npos;
}

}  // namespace headscope
