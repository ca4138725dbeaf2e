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

// What the family times, as a model of this arithmetic runs it: where its weights alone are narrow, what has weights.
std::vector<Case> speed_cases(const Family& family, Workload work, const Arithmetic& arithmetic);

// Of one of `count` runs in a row; the last is waited for.
double seconds_each(Backend& device, int count, const std::function<void()>& run);

// How many runs in a row take so long that starting them and waiting for the last is nothing beside it.
int runs_in_a_row(Backend& device, const std::function<void()>& run);

// A case on a device, its operands contiguous and overwritten, to be timed as often as somebody wants.
class TimedCase {
public:
    // Runs it, which does not count. `values`: generate(stated).
    TimedCase(Backend& device, const Case& stated, const HostValues& values);
    TimedCase(const TimedCase&) = delete;
    TimedCase& operator=(const TimedCase&) = delete;

    double seconds() const;               // of one run, of several in a row
    Speed speed(double one_takes) const;  // where a run takes so many seconds
    // What is wrong with the outputs at first sight, in words: no numbers, or nothing but 0. Empty where nothing is.
    std::string nonsense() const;

private:
    Backend& device_;
    const Case case_;
    Operands operands_;
    std::function<void()> run_;
    int runs_ = 1;
};

// What the device runs when it is timed, for a caller that has timed these kernels: Backend::take_kernels of one run.
std::vector<std::string> timed_kernels(Backend& device, const Case& stated, const HostValues& values);

// The median of several measurements. `values`: generate(stated).
Speed measure(Backend& device, const Case& stated, const HostValues& values);

}  // namespace headscope::conformance
