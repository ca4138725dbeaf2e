// The output of `headscope bench`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/instrumented.h"
#include "backend/open_options.h"
#include "cli/bench/bench_runs.h"
#include "cli/result_origin.h"
#include "conformance/peak.h"

namespace headscope {

using OpTimes = std::map<std::string, OpTime>;

// What is measured on each device.
struct BenchPlan {
    OpenOptions open_options;
    bool training = true;
    BenchShape shape;  // without the arithmetic, which each device has itself
    int steps = 1;     // per run; one per token for a translation
    bool peak = true;  // also measure what a large product reaches
};

struct BenchResult {
    DeviceInfo device;
    Arithmetic arithmetic = {};
    std::vector<double> seconds;       // of each timed run
    Backend::MemoryUse memory = {};    // of the timed runs
    std::uint64_t resident_bytes = 0;  // of the process; 0 if several devices share it
    std::optional<Peak> peak = {};
    OpTimes profile = {};         // of an additional run; empty without --profile
    Support profile_events = {};  // the clock of `profile`, see Backend::events
    std::string error = {};       // if the measurement failed
};

// For a single device.
nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan, const BenchResult& result);
std::string to_text(const BenchPlan& plan, const BenchResult& result);

// For several devices, side by side.
nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan,
                               const std::vector<BenchResult>& results);
std::string to_text(const BenchPlan& plan, const std::vector<BenchResult>& results);

}  // namespace headscope
