// Holds a device against the double-precision oracle, one case at a time: in every layout its operands may have,
// overwriting and adding, in place where the op allows it, with sentinels round every operand, twice for equal bits.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "conformance/compare.h"
#include "conformance/placement.h"
#include "conformance/shortfall.h"

namespace headscope::conformance {

// Every way in which the harness runs a case.
std::vector<Variant> variants_of(const Case& stated);

// The storages that a case may be tried in beside a backend's own real type: none where no operand may be of them.
std::vector<DType> storages_of(const Case& stated);
// Those of them in which the device has the case's op.
std::vector<DType> storages_of(const Backend& device, const Case& stated);

// How a device runs a case.
struct Standing {
    SupportLevel level = SupportLevel::Native;  // the least of what the case needs
    std::set<Shortfall> shortfalls;
    bool owed = false;  // none, of what every backend has to have
};
Standing standing_of(const Backend& device, const Case& stated);

// What became of a case on one device.
struct Outcome {
    int runs = 0;         // variants
    int failed_runs = 0;  // those with complaints
    Closeness closeness;
    std::vector<std::string> kernels;     // Backend::take_kernels
    std::vector<std::string> complaints;  // every promise that the device breaks, in words
    bool lost = false;                    // the device with it: DeviceLost was among them, and ended it
};

// One case, on one device after the other: the oracle is asked once.
class Examination {
public:
    // `oracle` is "cpu:oracle", or a device in F32 that stands for it: then the results of a case that is stored in 16
    // bits are what it makes of the same numbers in F32.
    Examination(Backend& oracle, const Case& stated);

    const Case& stated() const { return case_; }
    Outcome on(Backend& device);
    // What the device would run, for a caller that has seen these kernels at work. Empty where the backend does not
    // tell.
    std::vector<std::string> kernels_on(Backend& device) const;

private:
    // The oracle's results and what errors in them are measured against.
    struct Expected {
        HostValues results;
        HostValues magnitudes;
    };
    const Expected& expected(const std::set<std::string>& accumulated);
    void run(Backend& device, const Variant& variant, Outcome& outcome);
    HostValues run_oracle(const Case::Run& run, const HostValues& values,
                          const std::set<std::string>& accumulated) const;
    HostValues sensitivity(const std::set<std::string>& accumulated, const HostValues& results);
    const std::vector<HostValues>& moved_values();

    Backend& oracle_;
    const Case case_;
    const Case unstored_;  // for the oracle
    const HostValues values_;
    std::vector<HostValues> moved_;  // those values by one rounding each, some times over
    std::map<std::set<std::string>, Expected> expected_;
};

}  // namespace headscope::conformance
