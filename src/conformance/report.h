// What a conformance run found out, and how it is written down.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "conformance/compare.h"
#include "conformance/shortfall.h"
#include "support/settings.h"

namespace headscope::conformance {

// How fast an op ran over operands of one shape: the median of several measurements of the host's clock.
struct Speed {
    std::string shape;
    double seconds = 0.0;        // of one run
    double amount = 0.0;         // floating-point operations, or bytes read and written
    bool is_arithmetic = false;  // which of the two
    double giga_a_second() const { return amount / seconds * 1e-9; }
    const char* unit() const { return is_arithmetic ? "GFLOP/s" : "GB/s"; }
};

// One that a device got wrong.
struct FailedCase {
    std::string title;                      // as complaints have it
    std::string repeat;                     // the command that runs it again
    std::vector<std::string> kernels = {};  // that it ran, as far as the device tells
};

// One op, in one precision, by one path, over the cases of one group.
struct Result {
    std::string op;
    std::string family = {};
    std::string group = {};      // Group::name, or "speed"
    std::string says = {};       // Group::says
    std::string precision = {};  // "f32", "f16", "bf16 products", "i8 weights"
    std::string path = {};       // DeviceInfo::paths, or empty: what the device chose
    SupportLevel level = SupportLevel::Native;
    std::set<Shortfall> shortfalls = {};
    std::map<std::string, int> skipped = {};  // tests of others that were left out: why, and how many
    int cases = 0;
    int runs = 0;
    int failed_runs = 0;   // of them
    double seconds = 0.0;  // that all of it took, compiling too
    Closeness closeness = {};
    Tolerance tolerance = {};  // the largest
    std::set<std::string> kernels = {};
    std::vector<std::string> complaints = {};
    std::vector<FailedCase> failed = {};
    std::vector<Speed> speeds = {};

    bool backward() const;  // a gradient
    bool missing() const { return level == SupportLevel::None; }
    bool passed() const { return complaints.empty(); }
};

using RunSettings = std::vector<std::pair<std::string, std::string>>;  // by name

// Those that change what runs: ours, and of drivers how wide they are and where they are looked for.
RunSettings settings_of(const Settings& settings);

struct DeviceReport {
    DeviceInfo device;
    std::vector<Result> results;
    double seconds = 0.0;
    std::string failure = {};  // why it was not tried, or not to its end
    bool interrupted = false;  // by whoever started it: that is the failure
    std::string date = {};     // when it began: "2026-11-22T13:40:05Z"

    int runs() const;
    std::size_t failures() const;  // results
    // The kernels that were timed and that no case has held to the oracle, as far as the device tells.
    std::set<std::string> unproven() const;
    // True where something ran and nothing failed: no proof is no pass.
    bool passed() const { return runs() > 0 && failures() == 0 && failure.empty(); }
};

struct Report {
    std::string version;         // of the program
    std::string scope = "full";  // or "quick", "onnx node tests"
    std::string date = {};       // when it began
    std::string command = {};    // as a shell would take it
    RunSettings settings = {};
    std::vector<DeviceReport> devices;
    bool passed() const;
    bool interrupted() const;
};

// Runs one case again: headscope conform --device vulkan:0 --op matmul --dtype f16 --path no-subgroups --case '...'
std::string repeat_command(const std::string& device, const Result& result, const std::string& title);

// For people: a line for each op, precision and path, and every failure.
std::string report_table(const DeviceReport& report, const RunSettings& settings = {});
// For programs: everything.
nlohmann::ordered_json report_json(const Report& report);
// For those that read JUnit's XML: a suite for each device, a test for each result.
std::string report_junit(const Report& report);

}  // namespace headscope::conformance
