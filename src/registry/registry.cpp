#include "registry/registry.h"

#include <algorithm>
#include <array>
#include <functional>

#include "backend/instrumented.h"
#include "backends/cpu/open.h"
#include "backends/cuda/loader/cuda_devices.h"
#include "registry/device_list.h"
#include "registry/gpu_possible.h"
#include "support/check.h"
#include "support/environment.h"
#ifdef HEADSCOPE_WITH_VULKAN
#include "backends/vulkan/vulkan_backend.h"
#endif

namespace headscope {

namespace {

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
    std::unique_ptr<Backend> open(int /*index*/, const std::string& /*path*/) const { throw Error(list_[0].rejected); }

private:
    std::vector<DeviceInfo> list_ = std::vector<DeviceInfo>(1);
};

void require_vulkan_drivers() {}
#endif

// HEADSCOPE_TRACE=file writes a Chrome trace; HEADSCOPE_SCAN_NAN=1 stops at the first NaN.
InstrumentOptions options_from_environment() {
    InstrumentOptions options;
    options.trace_file = environment("HEADSCOPE_TRACE");
    options.scan_for_nan = environment_switch("HEADSCOPE_SCAN_NAN");
    return options;
}

// Behind what is wrong, in lines of its own.
std::string what_there_is(const std::vector<DeviceInfo>& devices) {
    std::string text = "\nThere is:";
    for (const DeviceInfo& device : devices) {
        text += "\n  " + device.id + ": " + (device.rejected.empty() ? device.name : "rejected, " + device.rejected);
    }
    return text;
}

// One look at a backend's devices. open() takes the place in the list, and a path.
struct Look {
    std::vector<DeviceInfo> list;
    std::function<std::unique_ptr<Backend>(int, const std::string&)> open;
};

template <class Devices>
Look look_at() {
    const auto devices = std::make_shared<const Devices>();
    return {devices->list(), [devices](int index, [[maybe_unused]] const std::string& path) {
                if constexpr (requires { devices->open(index, path); }) {
                    return devices->open(index, path);
                } else {
                    return devices->open(index);  // require_path() lets none through: its devices name none
                }
            }};
}

struct GpuBackend {
    const char* name;
    Look (*look)();
};

// The first with a real GPU has the default device: CUDA is faster than Vulkan on the same card.
constexpr std::array kGpuBackends{GpuBackend{"cuda", look_at<CudaDevices>},
                                  GpuBackend{"vulkan", look_at<VulkanDevices>}};

void require_path(const DeviceInfo& device, const std::string& path) {
    const auto& paths = device.paths;
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) {
        std::string known;
        for (const std::string& each : paths) {
            known += (known.empty() ? "" : ", ") + each;
        }
        throw Error("the device " + device.id + " has no path \"" + path + "\"; it has " +
                    (known.empty() ? "none to choose" : known));
    }
}

template <class Wanted>
std::unique_ptr<Backend> open_first(const GpuBackend& backend, const Wanted& wanted, const std::string& path = "") {
    const Look look = backend.look();
    const auto found = std::find_if(look.list.begin(), look.list.end(), [&](const DeviceInfo& device) {
        return device.rejected.empty() && wanted(device);
    });
    if (found == look.list.end()) {
        return nullptr;
    }
    require_path(*found, path);
    return look.open(static_cast<int>(found - look.list.begin()), path);
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
std::unique_ptr<Backend> open_named(const GpuBackend& backend, const std::string& wanted, const std::string& path) {
    auto opened = open_first(
        backend, [&](const DeviceInfo& device) { return device.id == wanted || device.backend == wanted; }, path);
    if (opened == nullptr) {
        throw Error("there is no usable device \"" + wanted + "\"" + what_there_is(list_devices()));
    }
    return opened;
}

std::unique_ptr<Backend> open_inner(const std::string& wanted, const std::string& path) {
    for (const GpuBackend& backend : kGpuBackends) {
        if (wanted.substr(0, wanted.find(':')) == backend.name) {
            return open_named(backend, wanted, path);
        }
    }
    std::unique_ptr<Backend> opened = wanted.empty()           ? open_best()
                                      : wanted == "cpu"        ? open_cpu()
                                      : wanted == "cpu:oracle" ? open_cpu_oracle()
                                                               : nullptr;
    if (opened != nullptr) {
        require_path(opened->device(), path);
        return opened;
    }
    throw Error("unknown device \"" + wanted + "\"" + what_there_is(list_devices()));
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

void require_window_drivers() {
    require_vulkan_drivers();
}

std::string asked_device(const std::string& given) {
    return given.empty() ? environment("HEADSCOPE_DEVICE") : given;
}

std::string default_device(const std::vector<DeviceInfo>& devices) {
    std::string asked = asked_device("");
    if (!asked.empty()) {
        return asked;
    }
    const auto best = std::find_if(devices.begin(), devices.end(), is_real_gpu);
    return gpu_possible() && best != devices.end() ? best->id : "cpu";
}

std::unique_ptr<Backend> open_device(const std::string& wanted) {
    return open_device_by("", wanted);
}

std::unique_ptr<Backend> open_device_by(const std::string& path, const std::string& wanted) {
    const std::string asked = asked_device(wanted);
    if (names_several(asked)) {
        throw Error((wanted.empty() ? "HEADSCOPE_DEVICE is \"" : "the device is \"") + asked +
                    "\", and this takes one device: " +
                    (wanted.empty() ? "name it by --device" : "name one that headscope devices --usable lists"));
    }
    return std::make_unique<Instrumented>(open_inner(asked, path), options_from_environment());
}

}  // namespace headscope
