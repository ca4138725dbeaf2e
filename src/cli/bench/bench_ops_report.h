// What `headscope bench ops` says.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/bench/bench_devices.h"
#include "cli/result_origin.h"
#include "conformance/side_by_side.h"

namespace headscope {

struct OpsResult {
    ResultOrigin origin;
    int repeat = 0;
    std::vector<BenchDevice> devices;
    std::vector<conformance::OpSpeeds> ops;  // their devices are those without an error, in their order
};

nlohmann::ordered_json to_json(const OpsResult& result);
std::string to_text(const OpsResult& result);
// What went wrong, in words; empty where nothing did.
std::string errors_of(const OpsResult& result);

}  // namespace headscope
