// Training and translating on several devices side by side.
#pragma once

#include <vector>

#include "cli/bench/bench_devices.h"
#include "cli/bench/bench_report.h"

namespace headscope {

// In the devices' order. What fails, fails alone: its result says why. `profiled`: also the time of each op.
std::vector<BenchResult> measure_devices(const BenchPlan& plan, std::vector<BenchDevice> devices, int repeat,
                                         bool profiled);

}  // namespace headscope
