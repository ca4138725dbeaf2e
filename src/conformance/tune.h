// Finds the fastest way to compute each product of a model on a device that has several: every way is held against the
// oracle before it is timed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"
#include "conformance/family.h"
#include "conformance/speed.h"

namespace headscope::conformance {

struct WayTried {
    std::string way;
    std::string complaint = {};  // what is wrong with its results; empty where they are right
    double seconds = 0.0;        // the median, of right ones
};

struct ProductTuned {
    std::string shape;           // "1000x1024x256 nt"
    std::string left_out = {};   // why it was not tried; empty where it was
    std::vector<WayTried> ways;  // the one that was the device's choice first
    std::string kept;            // its choice from now on; empty where no way is right, or there is but one
    bool on_disk = false;        // for later processes as well
};

struct TunePlan {
    Workload work = {};
    int repeat = 5;  // turns of each way
    Arithmetic arithmetic = {};
    OpenOptions open_options = {};  // of the CPU that results are compared with
    std::function<void(const std::string& line)> progress = {};
    std::function<double(const TimedCase&)> seconds = &TimedCase::seconds;  // the clock
};

// Each product that the family, matmul_family(), times. Another way takes the place of the device's choice where it is
// faster by more than measurements err. Error for a device that has but one way.
std::vector<ProductTuned> tune_products(Backend& device, const TunePlan& plan, const Family& products);

}  // namespace headscope::conformance
