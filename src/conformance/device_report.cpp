#include "conformance/device_report.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <tuple>

#include "conformance/device_run.h"
#include "conformance/selection.h"
#include "support/check.h"
#include "support/processors.h"

namespace headscope::conformance {

namespace {

// Takes units until none is left. Returns why it ended early, if it did: the device can no longer be opened.
std::string take(DeviceRun& run, const std::vector<Unit>& units, std::atomic<std::size_t>& next) {
    try {
        for (std::size_t at = next++; at < units.size(); at = next++) {
            run.examine(units[at].family, units[at].group, units[at].number);
        }
        return "";
    } catch (const Error& error) {
        next = units.size();
        return error.what();
    } catch (...) {
        next = units.size();
        throw;
    }
}

// Returns why it ended early, if it did.
std::string time_all(DeviceRun& run, const std::vector<Family>& families, const Part& part,
                     std::atomic<std::size_t>& next) {
    try {
        for (std::size_t number = 0; number < families.size(); ++number) {
            ++next;
            if (families[number].speeds != nullptr && part.has(number)) {
                run.time(families[number]);
            }
        }
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

// By path, the device's own choice first; within a path by unit, with timings after their family.
void put_in_order(const DeviceInfo& device, const std::vector<Family>& families, std::vector<Result>& results) {
    const auto place = [&](const Result& result) {
        const auto path = std::find(device.paths.begin(), device.paths.end(), result.path) - device.paths.begin();
        const auto family = std::find_if(families.begin(), families.end(),
                                         [&](const Family& each) { return each.name == result.family; });
        const auto group = std::find_if(family->groups.begin(), family->groups.end(),
                                        [&](const Group& each) { return each.name == result.group; });
        return std::tuple(result.path.empty() ? -1 : path, family - families.begin(), group - family->groups.begin());
    };
    std::stable_sort(results.begin(), results.end(),
                     [&](const Result& a, const Result& b) { return place(a) < place(b); });
}

// One call at a time, even from two threads. Progress is reported with a count.
Plan guarded(const Plan& plan, std::mutex& mutex, const std::function<void(Doing& doing)>& count) {
    Plan copy = plan;
    copy.open = [&plan, &mutex](const std::string& path, const std::string& device) {
        const std::lock_guard<std::mutex> lock(mutex);
        return plan.open(path, device);
    };
    if (plan.progress) {
        copy.progress = [&plan, &mutex, count](Doing doing) {
            const std::lock_guard<std::mutex> lock(mutex);
            count(doing);
            plan.progress(doing);
        };
    }
    return copy;
}

DeviceReport examine_all(const Plan& plan, const std::string& id, const std::vector<Family>& families) {
    std::mutex mutex;
    const std::vector<Unit> units = units_of(plan, families);
    std::atomic<std::size_t> next = 0;
    const std::size_t steps = units.size() + (plan.timed ? families.size() : 0);
    const auto before = std::find(plan.devices.begin(), plan.devices.end(), id) - plan.devices.begin();
    const Plan shared = guarded(plan, mutex, [&](Doing& doing) {
        doing.done = static_cast<std::size_t>(before) * steps + std::min<std::size_t>(next, steps) - 1;
        doing.all = plan.devices.size() * steps;
    });
    std::atomic<int> losses = 0;
    DeviceRun first(shared, id, losses);
    std::string failure;
    std::vector<Result> others;
    // Software Vulkan spends its time on compiling, one thread for each kernel; in a full run two would hold too many
    // kernels.
    if (first.compiles_in_software() && !plan.full && processors() > 1) {
        DeviceRun second(shared, id, losses);
        auto beside = std::async(std::launch::async, [&] { return take(second, units, next); });
        failure = take(first, units, next);
        const std::string why = beside.get();
        failure = failure.empty() ? why : failure;
        others = second.report().results;
    } else {
        failure = take(first, units, next);
    }
    if (plan.timed && failure.empty()) {
        next = units.size();
        failure = time_all(first, families, plan.part, next);
    }
    DeviceReport report = first.report();
    report.failure = failure;
    report.results.insert(report.results.end(), others.begin(), others.end());
    put_in_order(report.device, families, report.results);
    return report;
}

}  // namespace

DeviceReport report_of(const Plan& plan, const std::string& id, const std::vector<Family>& families) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string date = date_now();
    DeviceReport report;
    try {
        report = examine_all(plan, id, families);
    } catch (const Error& error) {
        report.device.id = id;
        report.failure = error.what();
    }
    report.date = date;
    report.interrupted = !report.failure.empty() && plan.stop_requested();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

}  // namespace headscope::conformance
