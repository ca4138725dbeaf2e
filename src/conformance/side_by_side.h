// Several devices that run the same cases turn by turn, so that whatever else the machine does hits all of them alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
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

// What became of a case on one device.
struct DeviceSpeed {
    std::string precision = {};               // precision_of()
    SupportLevel level = SupportLevel::None;  // None, and no error: nothing was to be timed, and `reason` says why
    std::string reason = {};                  // of what is not native or was left out
    std::optional<Speed> speed = {};          // none where the results were wrong
    std::vector<double> seconds = {};         // of one run, whenever it was its turn
    std::string checked = {};                 // the device that the results were compared with; empty: they are numbers
    Closeness closeness = {};                 // to that device's
    std::vector<std::string> kernels = {};    // Backend::take_kernels
    std::string error = {};
};

struct OpSpeeds {
    std::string op;
    std::string family;
    std::string shape;
    std::vector<DeviceSpeed> devices;  // in the contenders' order
};

struct SpeedPlan {
    std::vector<std::string> ops = {};  // names of ops or families; empty for all
    Workload work = {};
    int repeat = 5;
    double most_seconds = 1.5;      // of one run: what would take longer, going by what was timed before, is left out
    OpenOptions open_options = {};  // of the CPU that results are compared with
    std::function<void(const std::string& line)> progress = {};  // what is being done, for someone who waits
};

// Every case that the families time, checked and timed on each. Error for an op that no family times.
std::vector<OpSpeeds> time_side_by_side(const SpeedPlan& plan, const std::vector<Family>& families,
                                        const std::vector<Contender>& contenders);

}  // namespace headscope::conformance
