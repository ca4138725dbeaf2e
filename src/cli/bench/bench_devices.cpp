#include "cli/bench/bench_devices.h"

#include "options/precision_option.h"
#include "registry/device_list.h"
#include "registry/registry.h"

namespace headscope {

std::vector<BenchDevice> open_bench_devices(const std::vector<std::string>& wanted, Precision precision, bool training,
                                            const OpenOptions& open_options) {
    std::vector<BenchDevice> devices;
    for (const std::string& id : asked_devices(wanted, open_options)) {
        BenchDevice device;
        device.info.id = id;
        try {
            device.backend = open_device(id, open_options);
            device.info = device.backend->device();
            device.arithmetic = (training ? chosen_training_arithmetic : chosen_arithmetic)(*device.backend, precision);
        } catch (const std::exception& error) {
            device.backend.reset();
            device.error = error.what();
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

std::string failed_cell(const std::string& error) {
    return "FAILED: " + error.substr(0, error.find('\n'));
}

std::string errors_of(const std::vector<BenchDevice>& devices) {
    std::string text;
    for (const BenchDevice& device : devices) {
        if (!device.error.empty()) {
            text += (text.empty() ? "" : "; ") + device.info.id + ": " + device.error;
        }
    }
    return text;
}

}  // namespace headscope
