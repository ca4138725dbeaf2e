// The devices that a benchmark compares.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"

namespace headscope {

struct BenchDevice {
    DeviceInfo info;                   // only the requested id if it could not be opened
    std::unique_ptr<Backend> backend;  // null if it could not be opened
    Arithmetic arithmetic = {};
    std::string error = {};
};

// The devices of asked_devices(). One that cannot be opened has its reason in `error`.
std::vector<BenchDevice> open_bench_devices(const std::vector<std::string>& wanted, Precision precision, bool training,
                                            const OpenOptions& open_options);

// The first line of an error, for a table. The rest, such as a list of devices, goes to standard error.
std::string failed_cell(const std::string& error);
// "vulkan:1: no such device; cuda: ..", empty without errors.
std::string errors_of(const std::vector<BenchDevice>& devices);

}  // namespace headscope
