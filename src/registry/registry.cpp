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
#ifdef HEADSCOPE_WITH_VULKAN
#include "backends/vulkan/vulkan_backend.h"
#endif

namespace headscope {

namespace {

#ifndef HEADSCOPE_WITH_VULKAN
class VulkanDevices {
public:
    explicit VulkanDevices(const OpenOptions& /*options*/) {
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

void require_vulkan_drivers(const OpenOptions& /*options*/) {}
#endif

// HEADSCOPE_TRACE=file writes a Chrome trace; HEADSCOPE_SCAN_NAN=1 stops at the first NaN;
// HEADSCOPE_CHECK_REPLAYS=1 checks what is replayed.
InstrumentOptions instrument_options(const OpenOptions& open) {
    const Settings& settings = open.settings;
    InstrumentOptions options;
    if (const std::string path = settings.get("HEADSCOPE_TRACE"); !path.empty()) {
        options.trace = open.traces->at(path);
    }
    options.scan_for_nan = settings.on("HEADSCOPE_SCAN_NAN");
    options.check_replays = settings.on("HEADSCOPE_CHECK_REPLAYS");
    return options;
}

// Appended to errors: the devices, one per line.
std::string what_there_is(const std::vector<DeviceInfo>& devices) {
    std::string text = "\nThere is:";
    for (const DeviceInfo& device : devices) {
        text += "\n  " + device.id + ": " + (device.rejected.empty() ? device.name : "rejected, " + device.rejected);
    }
    return text;
}

// The devices of a backend. open() takes an index of the list, and a path.
struct Look {
    std::vector<DeviceInfo> list;
    std::function<std::unique_ptr<Backend>(int, const std::string&)> open;
};

template <class Devices>
Look look_at(const OpenOptions& options) {
    const auto devices = std::make_shared<const Devices>(options);
    return {devices->list(), [devices](int index, [[maybe_unused]] const std::string& path) {
                if constexpr (requires { devices->open(index, path); }) {
                    return devices->open(index, path);
                } else {
                    return devices->open(index);  // never with a path: its devices list none, see require_path()
                }
            }};
}

struct GpuBackend {
    const char* name;
    Look (*look)(const OpenOptions&);
};

// The first with a real GPU provides the default device: CUDA is faster than Vulkan on the same card.
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
std::unique_ptr<Backend> open_first(const GpuBackend& backend, const Wanted& wanted, const std::string& path,
                                    const OpenOptions& options) {
    const Look look = backend.look(options);
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

std::unique_ptr<Backend> open_best(const OpenOptions& options) {
    if (gpu_possible(options.settings)) {
        for (const GpuBackend& backend : kGpuBackends) {
            if (auto opened = open_first(backend, is_real_gpu, "", options)) {
                return opened;
            }
        }
    }
    return open_cpu(cpu_options(options.settings));
}

// "vulkan" is the first usable one, "vulkan:1" exactly that one.
std::unique_ptr<Backend> open_named(const GpuBackend& backend, const std::string& wanted, const std::string& path,
                                    const OpenOptions& options) {
    auto opened = open_first(
        backend, [&](const DeviceInfo& device) { return device.id == wanted || device.backend == wanted; }, path,
        options);
    if (opened == nullptr) {
        throw Error("no usable device \"" + wanted + "\"" + what_there_is(list_devices(options)));
    }
    return opened;
}

std::unique_ptr<Backend> open_inner(const std::string& wanted, const std::string& path, const OpenOptions& options) {
    for (const GpuBackend& backend : kGpuBackends) {
        if (wanted.substr(0, wanted.find(':')) == backend.name) {
            return open_named(backend, wanted, path, options);
        }
    }
    std::unique_ptr<Backend> opened = wanted.empty()           ? open_best(options)
                                      : wanted == "cpu"        ? open_cpu(cpu_options(options.settings))
                                      : wanted == "cpu:oracle" ? open_cpu_oracle()
                                                               : nullptr;
    if (opened != nullptr) {
        require_path(opened->device(), path);
        return opened;
    }
    throw Error("unknown device \"" + wanted + "\"" + what_there_is(list_devices(options)));
}

}  // namespace

std::vector<std::string> built_backends() {
    std::vector<std::string> names{"cpu"};
    for (const GpuBackend& backend : kGpuBackends) {
        names.emplace_back(backend.name);
    }
#ifndef HEADSCOPE_WITH_VULKAN
    std::erase(names, "vulkan");
#endif
    return names;
}

std::vector<DeviceInfo> list_devices(const OpenOptions& options) {
    std::vector<DeviceInfo> devices;
    for (const GpuBackend& backend : kGpuBackends) {
        const Look look = backend.look(options);
        devices.insert(devices.end(), look.list.begin(), look.list.end());
    }
    devices.push_back(describe_cpu(cpu_options(options.settings)));
    return devices;
}

#ifndef HEADSCOPE_WITH_VULKAN
std::vector<std::string> vulkan_settings() {
    return {};
}
#endif

void require_window_drivers(const OpenOptions& options) {
    require_vulkan_drivers(options);
}

std::string asked_device(const std::string& given, const Settings& settings) {
    return given.empty() ? settings.get("HEADSCOPE_DEVICE") : given;
}

std::string default_device(const std::vector<DeviceInfo>& devices, const Settings& settings) {
    std::string asked = asked_device("", settings);
    if (!asked.empty()) {
        return asked;
    }
    const auto best = std::find_if(devices.begin(), devices.end(), is_real_gpu);
    return gpu_possible(settings) && best != devices.end() ? best->id : "cpu";
}

std::unique_ptr<Backend> open_device(const std::string& wanted, const OpenOptions& options) {
    return open_device_by("", wanted, options);
}

std::unique_ptr<Backend> open_device_by(const std::string& path, const std::string& wanted,
                                        const OpenOptions& options) {
    const std::string asked = asked_device(wanted, options.settings);
    if (names_several(asked)) {
        throw Error((wanted.empty() ? "HEADSCOPE_DEVICE is \"" : "the device is \"") + asked +
                    "\", and this takes one device: " +
                    (wanted.empty() ? "name it by --device" : "name one that headscope devices --usable lists"));
    }
    return std::make_unique<Instrumented>(open_inner(asked, path, options), instrument_options(options));
}

}  // namespace headscope
