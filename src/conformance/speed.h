// How fast a device runs a case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "conformance/case.h"
#include "conformance/family.h"
#include "conformance/report.h"

namespace headscope::conformance {

// What the family times for a model of this arithmetic; if only its weights are narrow, what has weights.
std::vector<Case> speed_cases(const Family& family, Workload work, const Arithmetic& arithmetic);

// Of one of `count` consecutive runs; waits for the last.
double seconds_each(Backend& device, int count, const std::function<void()>& run);

// How many consecutive runs make the cost of starting and waiting negligible.
int runs_in_a_row(Backend& device, const std::function<void()>& run);

// A case on a device, contiguous and overwriting, ready to be timed.
class TimedCase {
public:
    // Runs it once as a warm-up. `values`: generate(stated).
    TimedCase(Backend& device, const Case& stated, const HostValues& values);
    TimedCase(const TimedCase&) = delete;
    TimedCase& operator=(const TimedCase&) = delete;

    double seconds() const;               // of one run, from several consecutive ones
    Speed speed(double one_takes) const;  // for a run of this many seconds
    // A quick check of the outputs: NaN, or nothing but 0. Empty if fine.
    std::string invalid_reason() const;

private:
    Backend& device_;
    const Case case_;
    Operands operands_;
    std::function<void()> run_;
    int runs_ = 1;
};

// The kernels that timing runs, so that a caller can skip those already timed: Backend::drain_kernel_names of one run.
std::vector<std::string> timed_kernels(Backend& device, const Case& stated, const HostValues& values);

// The median of several measurements. `values`: generate(stated).
Speed measure(Backend& device, const Case& stated, const HostValues& values);

}  // namespace headscope::conformance
