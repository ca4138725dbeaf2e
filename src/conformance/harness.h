// Compares a device with the double-precision oracle, one case at a time: in every layout that operands may have,
// overwriting and accumulating, in place where allowed, with sentinels around every operand, twice for equal bits.
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

// The 16-bit storages in which a case may run; empty if no operand may be stored so.
std::vector<DType> storages_of(const Case& stated);
// Those in which the device has the case's op.
std::vector<DType> storages_of(const Backend& device, const Case& stated);

// How a device runs a case.
struct Standing {
    SupportLevel level = SupportLevel::Native;  // the lowest of what the case needs
    std::set<Shortfall> shortfalls;
    bool owed = false;  // unsupported, though every backend must have it
};
Standing standing_of(const Backend& device, const Case& stated);

// The result of a case on one device.
struct Outcome {
    int runs = 0;         // variants
    int failed_runs = 0;  // with complaints
    Closeness closeness;
    std::vector<std::string> kernels;     // Backend::drain_kernel_names
    std::vector<std::string> complaints;  // all violations, in words
    bool lost = false;                    // DeviceLost was thrown and ended it
};

// One case, for several devices: the oracle computes it once.
class Examination {
public:
    // `oracle` is "cpu:oracle", or an F32 device in its place: a case stored in 16 bits is then compared with its
    // results for the same numbers in F32.
    Examination(Backend& oracle, const Case& stated);

    const Case& stated() const { return case_; }
    Outcome on(Backend& device);
    // The kernels that the device would run, so that a caller can skip those it has seen. Empty if the backend does not
    // report kernels.
    std::vector<std::string> kernels_on(Backend& device) const;

private:
    // The oracle's results and the scale of errors.
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
    std::vector<HostValues> moved_;  // the values changed by one rounding each, several times
    std::map<std::set<std::string>, Expected> expected_;
};

}  // namespace headscope::conformance
