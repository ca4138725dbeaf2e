// Runs the whole catalogue on devices: `headscope conform`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/family.h"
#include "conformance/report.h"
#include "registry/registry.h"

namespace headscope::conformance {

// The name of the device's own choice among paths.
inline constexpr const char* kChosenPath = "chosen";

// The current step.
struct Doing {
    std::string text;      // for people
    std::string repeat;    // the command that repeats it
    std::size_t done = 0;  // groups of cases, and families to time, before this one, of all devices
    std::size_t all = 0;   // and how many there are
};

// Every `of`-th group of cases, and family to time, from the `which`-th on: for runs that share the work.
struct Part {
    std::size_t which = 1, of = 1;
    bool has(std::size_t number) const { return number % of == which - 1; }
};
// "2/8". UsageError for anything else.
Part parse_part(const std::string& text);

struct Plan {
    std::vector<std::string> devices;      // as open_device() takes them
    std::vector<std::string> ops = {};     // names of ops or families; empty for all
    std::vector<std::string> dtypes = {};  // "f32", "f16", "bf16", "tf32", "i8"; empty for all
    std::vector<std::string> paths =
        {};                      // next to the device's own choice, "chosen"; empty: all in a full run, else none
    std::string case_text = {};  // a part of the titles of cases, as complaints have them; empty for all
    bool full = true;            // with all paths and large cases
    Part part = {};
    bool timed = true;
    std::function<void(const Doing& doing)> progress = {};  // called by several threads
    // Whether to stop after the current case; results so far are reported as interrupted.
    std::function<bool()> stop_requested = [] { return false; };
    // What a path may hold before it is reopened: kernels, on software devices (each takes megabytes, and all paths
    // have thousands), and bytes of tensors, which its pool would keep from the other paths.
    std::size_t kernels_held = 64;
    std::size_t bytes_held = std::size_t{128} << 20U;
    std::function<std::unique_ptr<Backend>(const std::string& path, const std::string& device)> open =
        [](const std::string& path, const std::string& device) { return open_device_by(path, device); };
};

// Error for an unknown device, path, op, dtype or case, and if the plan is empty.
Report run(const Plan& plan, const std::vector<Family>& families);

// Error for an unknown op or family; lists those known.
void require_known_ops(const std::vector<std::string>& wanted, const std::vector<std::string>& known);

// Whether the plan includes a case, by its op or family, its precision and its title.
bool asks_for(const Plan& plan, const Family& family, const Case& stated);

// In UTC: "2026-11-22T13:40:05Z"
std::string date_now();

// What a case computes in, for reports: "f32", "f16", "bf16 products", "i8 weights", "f32+f16".
std::string precision_of(const Case& stated, DType real = DType::F32);

}  // namespace headscope::conformance
