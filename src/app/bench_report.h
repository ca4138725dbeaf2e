// What `headscope bench` says of what it measured.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/bench_peak.h"
#include "app/bench_runs.h"
#include "backend/instrumented.h"

namespace headscope {

using OpTimes = std::map<std::string, OpTime>;

struct BenchResult {
    bool training = true;
    BenchShape shape;
    int steps = 1;  // of one run; of a translation one for each token
    DeviceInfo device;
    BenchRuns runs;
    Backend::MemoryUse memory = {};  // of the timed runs
    std::uint64_t resident_bytes = 0;
    Peak peak = {};
    OpTimes profile = {};         // of one more run; empty where that was not asked for
    Support profile_events = {};  // whose time that is: see Backend::events
};

nlohmann::ordered_json to_json(const BenchResult& result);
std::string to_text(const BenchResult& result);

}  // namespace headscope
