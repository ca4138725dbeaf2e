// The devices that a benchmark runs on side by side.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/precision.h"

namespace headscope {

struct BenchDevice {
    DeviceInfo info;                   // of one that could not be opened the id alone, as it was asked for
    std::unique_ptr<Backend> backend;  // none where it could not be opened
    Arithmetic arithmetic = {};
    std::string error = {};
};

// As compared_devices() takes them; without any the default. What fails, fails alone and with its reason.
std::vector<BenchDevice> open_bench_devices(const std::vector<std::string>& wanted, Precision precision, bool training);

// What the others are held against: the first CPU.
std::optional<std::size_t> find_cpu(const std::vector<BenchDevice>& devices);

// "vulkan:1: no such device; cuda: ..", empty where all is well.
std::string errors_of(const std::vector<BenchDevice>& devices);

}  // namespace headscope
