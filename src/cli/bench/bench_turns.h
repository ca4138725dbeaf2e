// Measures training and generation on several devices.
#pragma once

#include <vector>

#include "cli/bench/bench_devices.h"
#include "cli/bench/bench_report.h"

namespace headscope {

// Results in the devices' order; a failure is in its own result. `profiled`: also the time of each op.
std::vector<BenchResult> measure_devices(const BenchPlan& plan, std::vector<BenchDevice> devices, int repeat,
                                         bool profiled);

}  // namespace headscope
