// Finds the fastest way to compute each product of a model on a device that has several. Each way is checked against
// the oracle before it is timed.
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
    std::string complaint = {};  // what is wrong with its results; empty if correct
    double seconds = 0.0;        // the median, if correct
};

struct ProductTuned {
    std::string shape;           // "1000x1024x256 nt"
    std::string left_out = {};   // why it was not tried; empty if it was
    std::vector<WayTried> ways;  // the device's original choice first
    std::string kept;            // its choice from now on; empty if no way is correct, or there is only one
    bool on_disk = false;        // saved for later processes
};

struct TunePlan {
    Workload work = {};
    int repeat = 5;  // turns of each way
    Arithmetic arithmetic = {};
    OpenOptions open_options = {};  // for the CPU, the reference
    std::function<void(const std::string& line)> progress = {};
    std::function<double(const TimedCase&)> seconds = &TimedCase::seconds;  // the clock
};

// Tunes each product that the family, matmul_cases::family(), times. Another way replaces the device's choice if it is
// faster by more than the noise. Error for a device that has only one way.
std::vector<ProductTuned> tune_products(Backend& device, const TunePlan& plan, const Family& products);

}  // namespace headscope::conformance
