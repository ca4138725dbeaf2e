// The whole catalogue on devices: what `headscope conform` does.
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

// What the way that a device chooses of itself is called where paths are named.
inline constexpr const char* kChosenPath = "chosen";

// What is being done.
struct Doing {
    std::string text;    // for someone who waits
    std::string repeat;  // the command that does it again
};

struct Plan {
    std::vector<std::string> devices;      // as open_device() takes them
    std::vector<std::string> ops = {};     // names of ops or families; empty for all
    std::vector<std::string> dtypes = {};  // "f32", "f16", "bf16", "tf32", "i8"; empty for all
    std::vector<std::string> paths =
        {};  // beside the device's own choice, which is "chosen"; empty for all of a full run, else none
    std::string case_text = {};  // what the titles of cases hold, as complaints have them; empty for all
    bool full = true;            // by every path of a device, and what is too large to be quick
    bool timed = true;
    std::function<void(const Doing& doing)> progress = {};  // asked by every thread that does something
    // Whether to end after the case at hand: what was found by then is reported, and that it was interrupted.
    std::function<bool()> stop_requested = [] { return false; };
    // What a path holds before it is opened anew: kernels, where the CPU plays the device (there each takes megabytes,
    // and all paths have thousands), and bytes of tensors, which its pool would keep from the other paths.
    std::size_t kernels_held = 64;
    std::size_t bytes_held = std::size_t{128} << 20U;
    std::function<std::unique_ptr<Backend>(const std::string& path, const std::string& device)> open =
        [](const std::string& path, const std::string& device) { return open_device_by(path, device); };
};

// Error for a device, path, op, dtype or case that is not there, and where the plan leaves nothing to do.
Report run(const Plan& plan, const std::vector<Family>& families);

// Error for a name of an op or family that is not among those known, which it lists.
void require_known_ops(const std::vector<std::string>& wanted, const std::vector<std::string>& known);

// Whether the plan names a case's op or family, what it computes in and, where it names cases, the case.
bool asks_for(const Plan& plan, const Family& family, const Case& stated);

// In UTC: "2026-11-22T13:40:05Z"
std::string date_now();

// What a case computes in, for reports: "f32", "f16", "bf16 products", "i8 weights", "f32+f16".
std::string precision_of(const Case& stated, DType real = DType::F32);

}  // namespace headscope::conformance
