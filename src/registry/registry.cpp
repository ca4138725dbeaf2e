#include "registry/registry.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

#include "backend/instrumented.h"
#include "backends/cpu/open.h"
#include "backends/cuda/loader/cuda_devices.h"
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

// One look at a backend's devices. open() takes the place in the list.
struct Look {
    std::vector<DeviceInfo> list;
    std::function<std::unique_ptr<Backend>(int)> open;
};

template <class Devices>
Look look_at() {
    const auto devices = std::make_shared<const Devices>();
    return {devices->list(), [devices](int index) { return devices->open(index); }};
}

struct GpuBackend {
    const char* name;
    Look (*look)();
};

// The first with a real GPU has the default device: CUDA is faster than Vulkan on the same card.
constexpr std::array kGpuBackends{GpuBackend{"cuda", look_at<CudaDevices>},
                                  GpuBackend{"vulkan", look_at<VulkanDevices>}};

template <class Wanted>
std::unique_ptr<Backend> open_first(const GpuBackend& backend, const Wanted& wanted) {
    const Look look = backend.look();
    const auto found = std::find_if(look.list.begin(), look.list.end(), [&](const DeviceInfo& device) {
        return device.rejected.empty() && wanted(device);
    });
    return found == look.list.end() ? nullptr : look.open(static_cast<int>(found - look.list.begin()));
}

bool is_real_gpu(const DeviceInfo& device) {
    return device.gpu && device.rejected.empty();
}

std::unique_ptr<Backend> open_best() {
    if (gpu_possible()) {
        for (const GpuBackend& backend : kGpuBackends) {
            if (auto opened = open_first(backend, is_real_gpu)) {
                return opened;
            }
        }
    }
    return open_cpu();
}

// "vulkan" is the first usable one, "vulkan:1" that very one.
std::unique_ptr<Backend> open_named(const GpuBackend& backend, const std::string& wanted) {
    auto opened =
        open_first(backend, [&](const DeviceInfo& device) { return device.id == wanted || device.backend == wanted; });
    if (opened == nullptr) {
        throw Error("there is no usable device \"" + wanted + "\". There is:" + what_there_is(list_devices()));
    }
    return opened;
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
    for (const GpuBackend& backend : kGpuBackends) {
        if (wanted.substr(0, wanted.find(':')) == backend.name) {
            return open_named(backend, wanted);
        }
    }
    throw Error("unknown device \"" + wanted + "\": expected one of these." + what_there_is(list_devices()));
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> devices;
    for (const GpuBackend& backend : kGpuBackends) {
        const Look look = backend.look();
        devices.insert(devices.end(), look.list.begin(), look.list.end());
    }
    devices.push_back(describe_cpu());
    return devices;
}

std::string default_device(const std::vector<DeviceInfo>& devices) {
    std::string asked = environment("HEADSCOPE_DEVICE");
    if (!asked.empty()) {
        return asked;
    }
    const auto best = std::find_if(devices.begin(), devices.end(), is_real_gpu);
    return gpu_possible() && best != devices.end() ? best->id : "cpu";
}

std::unique_ptr<Backend> open_device(const std::string& wanted) {
    return std::make_unique<Instrumented>(open_inner(wanted.empty() ? environment("HEADSCOPE_DEVICE") : wanted),
                                          options_from_environment());
}

}  // namespace headscope
