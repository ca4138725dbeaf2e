// The output of `headscope bench ops`.
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
    std::vector<conformance::OpSpeeds> ops;  // with entries for the devices without an error, in order
};

nlohmann::ordered_json to_json(const OpsResult& result);
std::string to_text(const OpsResult& result);
// All error messages; empty without errors.
std::string errors_of(const OpsResult& result);

}  // namespace headscope
