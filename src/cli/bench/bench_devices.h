// The devices that a benchmark runs on side by side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"

namespace CLI {
class App;
}

namespace headscope {

struct BenchDevice {
    DeviceInfo info;                   // of one that could not be opened the id alone, as it was asked for
    std::unique_ptr<Backend> backend;  // none where it could not be opened
    Arithmetic arithmetic = {};
    std::string error = {};
};

// --device, of one device or several.
void add_bench_device_option(CLI::App& command, std::vector<std::string>& devices);

// As compared_devices() takes them; without any the default. What fails, fails alone and with its reason.
std::vector<BenchDevice> open_bench_devices(const std::vector<std::string>& wanted, Precision precision, bool training,
                                            const OpenOptions& open_options);

// In a table: the first line of what a device failed at. The rest, such as a list of devices, goes to standard error.
std::string failed_cell(const std::string& error);
// "vulkan:1: no such device; cuda: ..", empty where all is well.
std::string errors_of(const std::vector<BenchDevice>& devices);

}  // namespace headscope
