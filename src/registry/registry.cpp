#include "registry/registry.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backend/instrumented.h"
#include "backends/cpu/open.h"
#include "registry/gpu_possible.h"
#include "support/check.h"
#ifdef HEADSCOPE_WITH_VULKAN
#include "backends/vulkan/vulkan_backend.h"
#endif

namespace headscope {

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

#ifndef HEADSCOPE_WITH_VULKAN
class VulkanDevices {
public:
    VulkanDevices() {
        list_[0].id = "vulkan";
        list_[0].backend = "vulkan";
        list_[0].name = "Vulkan";
        list_[0].rejected = "not built in: configure with -DHEADSCOPE_VULKAN=ON";
    }
    const std::vector<DeviceInfo>& list() const { return list_; }
    std::unique_ptr<Backend> open(int /*index*/) const { throw Error(list_[0].rejected); }

private:
    std::vector<DeviceInfo> list_ = std::vector<DeviceInfo>(1);
};
#endif

// HEADSCOPE_TRACE=file writes a Chrome trace; HEADSCOPE_SCAN_NAN=1 stops at the first NaN.
InstrumentOptions options_from_environment() {
    InstrumentOptions options;
    options.trace_file = environment("HEADSCOPE_TRACE");
    const std::string scan = environment("HEADSCOPE_SCAN_NAN");
    options.scan_for_nan = !scan.empty() && scan != "0";
    return options;
}

std::string what_there_is(const std::vector<DeviceInfo>& devices) {
    std::string text;
    for (const DeviceInfo& device : devices) {
        text += "\n  " + device.id + ": " + (device.rejected.empty() ? device.name : "rejected, " + device.rejected);
    }
    return text;
}

std::vector<DeviceInfo> all_devices(const VulkanDevices& vulkan) {
    std::vector<DeviceInfo> devices = vulkan.list();
    devices.push_back(describe_cpu());
    return devices;
}

std::unique_ptr<Backend> open_listed(const VulkanDevices& vulkan, const std::string& id) {
    int index = 0;
    const std::string digits = id.substr(id.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    return vulkan.open(index);
}

// "vulkan" is the first usable one, "vulkan:1" that very one.
std::unique_ptr<Backend> open_vulkan_named(const std::string& wanted) {
    const VulkanDevices vulkan;
    for (const DeviceInfo& device : vulkan.list()) {
        if ((device.id == wanted || wanted == "vulkan") && device.rejected.empty()) {
            return open_listed(vulkan, device.id);
        }
    }
    throw Error("there is no usable device \"" + wanted + "\". There is:" + what_there_is(all_devices(vulkan)));
}

std::string best_device(const std::vector<DeviceInfo>& devices) {
    const auto gpu = std::find_if(devices.begin(), devices.end(),
                                  [](const DeviceInfo& device) { return device.gpu && device.rejected.empty(); });
    return gpu == devices.end() ? "cpu" : gpu->id;
}

std::unique_ptr<Backend> open_best() {
    if (gpu_possible()) {
        const VulkanDevices vulkan;
        if (const std::string best = best_device(vulkan.list()); best != "cpu") {
            return open_listed(vulkan, best);
        }
    }
    return open_cpu();
}

std::unique_ptr<Backend> open_inner(const std::string& wanted) {
    if (wanted.empty()) {
        return open_best();
    }
    if (wanted == "cpu") {
        return open_cpu();
    }
    if (wanted == "cpu:oracle") {
        return open_cpu_oracle();
    }
    if (wanted.rfind("vulkan", 0) == 0) {
        return open_vulkan_named(wanted);
    }
    throw Error("unknown device \"" + wanted + "\": expected one of these." + what_there_is(list_devices()));
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
    return all_devices(VulkanDevices());
}

std::string default_device(const std::vector<DeviceInfo>& devices) {
    std::string asked = environment("HEADSCOPE_DEVICE");
    if (!asked.empty()) {
        return asked;
    }
    return gpu_possible() ? best_device(devices) : "cpu";
}

std::unique_ptr<Backend> open_device(const std::string& wanted) {
    return std::make_unique<Instrumented>(open_inner(wanted.empty() ? environment("HEADSCOPE_DEVICE") : wanted),
                                          options_from_environment());
}

}  // namespace headscope
