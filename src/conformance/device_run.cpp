#include "conformance/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "conformance/selection.h"
#include "conformance/speed.h"
#include "support/check.h"

namespace headscope::conformance {

namespace {

constexpr const char* kSpeed = "speed";  // Result::group of timings
constexpr std::size_t kFewCases = 4;     // of a group: each runs in every storage

// What is timed: enough work for the device, but not too much.
const Workload kOnCpus;
const Workload kOnGpus{.sentences = 256, .parameters = 60'000'000, .sides = {4096}};

// Adds the time from `begin` to the end of a scope.
class Stopwatch {
public:
    using Clock = std::chrono::steady_clock;
    Stopwatch(double& seconds, Clock::time_point begin) : seconds_(seconds), begin_(begin) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }

private:
    double& seconds_;
    const Clock::time_point begin_;
};

// Every second case of a large group runs in only one of the 16-bit storages, in turn.
bool skips(const Case& stored, std::size_t turn) {
    return stored.storage && turn % 4 != (*stored.storage == DType::F16 ? 0 : 2);
}

void note_standing(const Standing& standing, const Backend& device, const Case& stated, Result& result) {
    result.level = std::max(result.level, standing.level);
    result.shortfalls.insert(standing.shortfalls.begin(), standing.shortfalls.end());
    if (standing.owed) {
        result.complaints.push_back(
            fmt::format("{}: {}: every backend has to have this", device.device().id, stated.title()));
    }
}

void note_failed(const std::string& device, const Case& stated, Result& result, std::vector<std::string> kernels = {}) {
    result.failed.push_back({.title = stated.title(),
                             .repeat = repeat_command(device, result, stated.title()),
                             .kernels = std::move(kernels)});
}

void add(const Case& stated, const Outcome& outcome, Result& result) {
    ++result.cases;
    result.runs += outcome.runs;
    result.failed_runs += outcome.failed_runs;
    result.closeness.widen(outcome.closeness);
    result.kernels.insert(outcome.kernels.begin(), outcome.kernels.end());
    result.complaints.insert(result.complaints.end(), outcome.complaints.begin(), outcome.complaints.end());
    for (const Operand& operand : stated.operands) {
        if (const Tolerance tolerance = tolerance_of(stated, operand);
            operand.written() && tolerance.element >= result.tolerance.element) {
            result.tolerance = tolerance;
        }
    }
}

}  // namespace

DeviceRun::DeviceRun(const Plan& plan, const std::string& id, std::atomic<int>& losses)
    : plan_(plan), oracle_(open_device("cpu:oracle")), losses_(losses) {
    benches_.emplace_back(plan, id, "");
    info_ = benches_.front().backend().device();
    const std::vector<std::string>& paths = !plan.paths.empty() || !plan.full ? plan.paths : info_.paths;
    for (const std::string& path : paths) {
        if (path != kChosenPath) {
            benches_.emplace_back(plan, info_.id, path);
        }
    }
}

void DeviceRun::examine(const Family& family, const Group& group, std::size_t turn) {
    const std::vector<Case> cases = group.cases();
    const bool takes_turns = cases.size() > kFewCases && by_turns();
    for (const Case& stated : cases) {
        examine(family, group, stated, takes_turns ? std::optional(turn++) : std::nullopt);
    }
}

void DeviceRun::time(const Family& family) {
    const Group group{.name = kSpeed, .says = "how fast it is"};
    for (const Case& stated : family.speeds(info_.gpu ? kOnGpus : kOnCpus)) {
        for (const Case& stored : stored_cases(group, stated)) {
            if (asks_for(plan_, family, stored)) {
                time(family, group, stored);
            }
        }
    }
}

DeviceReport DeviceRun::report() const {
    DeviceReport report{.device = benches_.front().info(), .results = {}};
    for (const Bench& bench : benches_) {
        report.results.insert(report.results.end(), bench.results().begin(), bench.results().end());
    }
    return report;
}

// Not for GPUs, whose kernels are small, nor for the device's own choice, which holds no more memory than a model
// would.
void DeviceRun::close_full(Bench& bench) const {
    const bool kernels = info_.software && bench.kernels().size() > plan_.kernels_held;
    const bool memory = (info_.software || !bench.path().empty()) && bench.peak_bytes() > plan_.bytes_held;
    if (kernels || memory) {
        bench.close();
    }
}

// Before each step (a case by one path): reports progress, and throws if a stop was requested.
void DeviceRun::begin(const Bench& bench, const Group& group, const Case& stored) const {
    if (plan_.stop_requested()) {
        throw Error("it was interrupted");
    }
    if (plan_.progress) {
        const std::string precision = precision_of(stored);
        plan_.progress(
            {.text = fmt::format("{}, {}, {}: {} ({})", info_.id, bench.path().empty() ? "as it chooses" : bench.path(),
                                 precision, stored.title(), group.says),
             .repeat = repeat_command(info_.id, {.op = stored.op_name(), .precision = precision, .path = bench.path()},
                                      stored.title())});
    }
}

// In quick runs of software devices, where compiling takes most of the time.
bool DeviceRun::by_turns() const {
    return info_.software && !plan_.full && plan_.dtypes.empty();
}

// `turn`: the number of this case, if not every storage is tried.
void DeviceRun::examine(const Family& family, const Group& group, const Case& stated, std::optional<std::size_t> turn) {
    for (const Case& stored : stored_cases(group, stated)) {
        if (!asks_for(plan_, family, stored) || (turn && skips(stored, *turn))) {
            continue;
        }
        Examination examination(*oracle_, stored);
        Seen seen;
        for (Bench& bench : benches_) {
            unless_lost(bench, family, group, stored, [&] {
                examine(bench, examination, seen, [&]() -> Result& { return bench.result(family, group, stored); });
            });
            close_full(bench);
        }
    }
}

void DeviceRun::examine(Bench& bench, Examination& examination, Seen& seen, const std::function<Result&()>& result_of) {
    const Case& stored = examination.stated();
    const Stopwatch::Clock::time_point begin = Stopwatch::Clock::now();
    const Standing standing = standing_of(bench.backend(), stored);
    if (standing.level == SupportLevel::None) {
        if (bench.path().empty()) {
            Result& result = result_of();
            note_standing(standing, bench.backend(), stored, result);
            if (standing.owed) {
                note_failed(info_.id, stored, result);
            }
        }
        return;
    }
    if (!is_new(bench, seen, [&] { return examination.kernels_on(bench.backend()); })) {
        return;
    }
    Result& result = result_of();
    note_standing(standing, bench.backend(), stored, result);
    const Stopwatch watch(result.seconds, begin);
    const Outcome outcome = examination.on(bench.backend());
    bench.add_kernels(outcome.kernels);
    add(stored, outcome, result);
    if (!outcome.complaints.empty()) {
        note_failed(info_.id, stored, result, outcome.kernels);
    }
    if (outcome.lost) {
        lose(bench);
    }
}

// Later cases get a fresh device; a device that is lost repeatedly is given up.
void DeviceRun::lose(Bench& bench) {
    constexpr int kMostLosses = 8;
    bench.close();
    if (const int losses = ++losses_; losses >= kMostLosses) {
        throw Error(fmt::format("{} was lost {} times, and is not tried any further", info_.id, losses));
    }
}

// If `step` loses the device, the case has failed and later ones get a fresh device.
void DeviceRun::unless_lost(Bench& bench, const Family& family, const Group& group, const Case& stored,
                            const std::function<void()>& step) {
    begin(bench, group, stored);
    try {
        step();
    } catch (const DeviceLost& error) {
        Result& result = bench.result(family, group, stored);
        result.complaints.push_back(info_.id + ": " + stored.title() + ": " + error.what());
        note_failed(info_.id, stored, result);
        lose(bench);
    }
}

// A path whose lists of kernels were all `seen` before would show nothing new.
bool DeviceRun::is_new(Bench& bench, Seen& seen, const std::function<std::vector<std::string>()>& kernels_of) const {
    if (benches_.size() == 1) {
        return true;
    }
    try {
        const std::vector<std::string> kernels = kernels_of();
        bench.add_kernels(kernels);
        return seen.insert(kernels).second;
    } catch (const std::exception&) {
        return true;  // the run itself reports the problem
    }
}

void DeviceRun::time(const Family& family, const Group& group, const Case& stored) {
    const HostValues values = generate(stored);
    Seen seen;
    for (Bench& bench : benches_) {
        bool failed = true;  // stays true if the device is lost
        unless_lost(bench, family, group, stored, [&] { failed = !time(bench, family, group, stored, values, seen); });
        close_full(bench);
        if (failed) {
            break;  // too large for one path means too large for the others
        }
    }
}

// False if it failed.
bool DeviceRun::time(Bench& bench, const Family& family, const Group& group, const Case& stored,
                     const HostValues& values, Seen& seen) {
    const Stopwatch::Clock::time_point begin = Stopwatch::Clock::now();
    const Standing standing = standing_of(bench.backend(), stored);
    if (standing.level == SupportLevel::None ||
        !is_new(bench, seen, [&] { return timed_kernels(bench.backend(), stored, values); })) {
        return true;
    }
    Result& result = bench.result(family, group, stored);
    note_standing(standing, bench.backend(), stored, result);
    const Stopwatch watch(result.seconds, begin);
    bench.backend().drain_kernel_names();
    bool fails = false;
    try {
        result.speeds.push_back(measure(bench.backend(), stored, values));
    } catch (const DeviceLost&) {
        throw;
    } catch (const std::exception& error) {
        fails = true;
        result.complaints.push_back(info_.id + ": " + stored.title() + ": " + error.what());
        note_failed(info_.id, stored, result);
    }
    for (const std::string& kernel : bench.backend().drain_kernel_names()) {
        result.kernels.insert(kernel);
    }
    return !fails;
}

}  // namespace headscope::conformance
