// What `headscope bench` says of what it measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/instrumented.h"
#include "backend/open_options.h"
#include "cli/bench/bench_peak.h"
#include "cli/bench/bench_runs.h"
#include "cli/result_origin.h"

namespace headscope {

using OpTimes = std::map<std::string, OpTime>;

// What was measured, whatever the device.
struct BenchPlan {
    OpenOptions open_options;
    bool training = true;
    BenchShape shape;  // but for the arithmetic, which is each device's
    int steps = 1;     // of one run; of a translation one for each token
};

struct BenchResult {
    DeviceInfo device;
    Arithmetic arithmetic = {};
    std::vector<double> seconds;       // of each timed run
    Backend::MemoryUse memory = {};    // of the timed runs
    std::uint64_t resident_bytes = 0;  // of the process; 0 where it is not this device's alone
    Peak peak = {};
    OpTimes profile = {};         // of one more run; empty where that was not asked for
    Support profile_events = {};  // whose time that is: see Backend::events
    std::string error = {};       // where it has none of these
};

// Of one device, which was named alone.
nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan, const BenchResult& result);
std::string to_text(const BenchPlan& plan, const BenchResult& result);

// Of several, side by side.
nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan,
                               const std::vector<BenchResult>& results);
std::string to_text(const BenchPlan& plan, const std::vector<BenchResult>& results);

}  // namespace headscope
