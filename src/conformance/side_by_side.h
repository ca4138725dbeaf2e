// Several devices run the same cases in turn, so that other load on the machine affects all alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"
#include "conformance/compare.h"
#include "conformance/family.h"
#include "conformance/report.h"

namespace headscope::conformance {

struct Contender {
    Backend& backend;
    Arithmetic arithmetic = {};
};

// The result of a case on one device.
struct DeviceSpeed {
    std::string precision = {};               // precision_of()
    SupportLevel level = SupportLevel::None;  // None without error: not timed, with a `reason`
    std::string reason = {};                  // why it is not native, or was left out
    std::optional<Speed> speed = {};          // std::nullopt if the results were wrong
    std::vector<double> seconds = {};         // of one run, at each turn
    std::optional<double> growth = {};        // by length: the time over that of the length before
    std::string checked = {};                 // the device compared with; empty: only checked to be numbers
    Closeness closeness = {};                 // to that device's
    std::vector<std::string> kernels = {};    // Backend::drain_kernel_names
    std::string error = {};
};

struct OpSpeeds {
    std::string op;
    std::string family;
    std::string shape;
    std::int64_t length = 0;           // by length: of the sentences
    std::vector<DeviceSpeed> devices;  // in the contenders' order
};

struct SpeedPlan {
    std::vector<std::string> ops = {};                            // names of ops or families; empty for all
    std::set<std::pair<std::string, std::string>> left_out = {};  // op and name of cases that are not timed
    Workload work = {};
    int repeat = 5;
    double most_seconds = 1.5;      // of one run; skipped if an estimate from earlier ones is longer
    OpenOptions open_options = {};  // for the CPU, the reference
    std::function<void(const std::string& line)> progress = {};  // the current step, for people
};

// Checks and times all speeds of the families on each device. Error for an op without any.
std::vector<OpSpeeds> time_side_by_side(const SpeedPlan& plan, const std::vector<Family>& families,
                                        const std::vector<Contender>& contenders);

}  // namespace headscope::conformance
