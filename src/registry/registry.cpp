#include "registry/registry.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backend/instrumented.h"
#include "backends/cpu/open.h"
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

#ifdef HEADSCOPE_WITH_VULKAN
std::unique_ptr<Backend> open_vulkan(int index) {
    return open_vulkan_device(index);
}
#else
std::vector<DeviceInfo> list_vulkan_devices() {
    DeviceInfo absent;
    absent.id = "vulkan";
    absent.backend = "vulkan";
    absent.name = "Vulkan";
    absent.rejected = "not built in: configure with -DHEADSCOPE_VULKAN=ON";
    return {absent};
}
std::unique_ptr<Backend> open_vulkan(int /*index*/) {
    return nullptr;
}
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

// "vulkan" is the first usable one, "vulkan:1" that very one.
std::unique_ptr<Backend> open_vulkan_named(const std::string& wanted, const std::vector<DeviceInfo>& devices) {
    for (const DeviceInfo& device : devices) {
        const bool named = device.id == wanted || (wanted == "vulkan" && device.backend == "vulkan");
        if (!named || !device.rejected.empty()) {
            continue;
        }
        int index = 0;
        const std::string digits = device.id.substr(device.id.find(':') + 1);
        std::from_chars(digits.data(), digits.data() + digits.size(), index);
        return open_vulkan(index);
    }
    throw Error("there is no usable device \"" + wanted + "\". There is:" + what_there_is(devices));
}

std::string best_device(const std::vector<DeviceInfo>& devices) {
    const auto gpu = std::find_if(devices.begin(), devices.end(),
                                  [](const DeviceInfo& device) { return device.gpu && device.rejected.empty(); });
    return gpu == devices.end() ? "cpu" : gpu->id;
}

std::unique_ptr<Backend> open_inner(const std::string& wanted) {
    if (wanted == "cpu") {
        return open_cpu();
    }
    if (wanted == "cpu:oracle") {
        return open_cpu_oracle();
    }
    const std::vector<DeviceInfo> devices = list_devices();
    if (wanted.rfind("vulkan", 0) == 0) {
        return open_vulkan_named(wanted, devices);
    }
    throw Error("unknown device \"" + wanted + "\": expected one of these." + what_there_is(devices));
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> devices = list_vulkan_devices();
    devices.push_back(describe_cpu());
    return devices;
}

std::string default_device() {
    const std::string asked = environment("HEADSCOPE_DEVICE");
    return asked.empty() ? best_device(list_devices()) : asked;
}

std::unique_ptr<Backend> open_device(const std::string& wanted) {
    return std::make_unique<Instrumented>(open_inner(wanted.empty() ? default_device() : wanted),
                                          options_from_environment());
}

}  // namespace headscope
