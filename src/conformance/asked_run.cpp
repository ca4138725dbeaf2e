#include "conformance/asked_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope::conformance {

namespace {

// The id of the device that open_device() would open: "vulkan" is its first usable device.
std::string id_of(const std::string& wanted, const std::vector<DeviceInfo>& devices) {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
        return device.rejected.empty() && (device.id == wanted || device.backend == wanted);
    });
    return found == devices.end() ? wanted : found->id;
}

// Removes duplicates, also under different names.
std::vector<std::string> distinct(const std::vector<std::string>& wanted, const OpenOptions& open) {
    if (wanted.size() < 2) {
        return wanted;
    }
    const std::vector<DeviceInfo> devices = list_devices(open);
    std::vector<std::string> ids;
    for (const std::string& each : wanted) {
        if (const std::string id = id_of(each, devices); std::find(ids.begin(), ids.end(), id) == ids.end()) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::string failures_of(const DeviceReport& device) {
    std::vector<std::string> words;
    if (device.failures() > 0) {
        words.push_back(fmt::format("{} of {} failed", device.failures(), counted(device.results.size(), "result")));
    }
    if (!device.failure.empty()) {
        words.push_back("the rest was not tried: " + device.failure);
    }
    if (words.empty()) {
        words.emplace_back("nothing ran, which is a failure: it supports none of the selected cases");
    }
    return fmt::format("{}: {}", device.device.id, fmt::join(words, ", "));
}

}  // namespace

std::vector<std::string> devices_asked_for(const std::vector<std::string>& named, const OpenOptions& open) {
    if (!named.empty() || !asked_device("", open.settings).empty()) {
        return distinct(asked_devices(named, open), open);
    }
    std::vector<std::string> found;
    std::string rejected;
    for (const DeviceInfo& device : list_devices(open)) {
        if (!device.rejected.empty()) {
            rejected += fmt::format("\n  {}: {}", device.id, device.rejected);
        } else if (device.backend != "cpu") {
            found.push_back(device.id);
        }
    }
    if (found.empty()) {
        throw Error(
            fmt::format("no GPU found, and a run without a device is a failure. The device cpu (--device cpu) tests "
                        "the CPU's kernels. Rejected devices:{}",
                        rejected));
    }
    return found;
}

void require_no_scan(const Settings& settings) {
    if (settings.on("HEADSCOPE_SCAN_NAN")) {
        throw Error("HEADSCOPE_SCAN_NAN stops at the first NaN, but some cases test NaN on purpose: unset it");
    }
}

std::string failures_of(const Report& report) {
    std::vector<std::string> failures;
    for (const DeviceReport& device : report.devices) {
        if (!device.passed()) {
            failures.push_back(failures_of(device));
        }
    }
    return fmt::format("{}", fmt::join(failures, "; "));
}

}  // namespace headscope::conformance
