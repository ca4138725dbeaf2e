#include "cli/bench/bench_turns.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "backend/instrumented.h"
#include "options/progress.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope {
namespace {

double least_bytes(const BenchPlan& plan, const Arithmetic& arithmetic) {
    BenchShape shape = plan.shape;
    shape.arithmetic = arithmetic;
    return plan.training ? least_training_bytes(shape) : least_generation_bytes(shape);
}

void check_memory(const Backend& backend, double least) {
    constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;
    const auto present = static_cast<double>(backend.device().memory_bytes);
    if (present > 0.0 && least > present) {  // 0: unknown
        throw Error(
            fmt::format("this needs at least {:.1f} GiB, but {} has {:.1f} GiB: use fewer or shorter --sentences, "
                        "or a smaller model",
                        least / kGibi, backend.device().id, present / kGibi));
    }
}

std::unique_ptr<BenchWork> work_of(const BenchPlan& plan, Backend& backend, const Arithmetic& arithmetic) {
    BenchShape shape = plan.shape;
    shape.arithmetic = arithmetic;
    return plan.training ? training_work(backend, shape, plan.steps) : generation_work(backend, shape);
}

// A device with its work and results.
struct Runner {
    BenchDevice device;
    std::unique_ptr<BenchWork> work = nullptr;
    BenchResult result = {};
};

// A failure is recorded for this device only.
void attempt(Runner& runner, const std::function<void()>& action) {
    if (!runner.result.error.empty()) {
        return;
    }
    try {
        action();
    } catch (const std::exception& error) {
        runner.work.reset();
        runner.result.error = error.what();
    }
}

void start(const BenchPlan& plan, Runner& runner) {
    attempt(runner, [&] {
        check_memory(*runner.device.backend, least_bytes(plan, runner.device.arithmetic));
        runner.work = work_of(plan, *runner.device.backend, runner.device.arithmetic);
        runner.work->warm_up();
    });
}

// Measurements after all runs.
void finish(const BenchPlan& plan, Runner& runner) {
    attempt(runner, [&] {
        runner.result.memory = runner.device.backend->memory();
        runner.result.resident_bytes = peak_resident_bytes();
        runner.work.reset();
        if (plan.peak) {
            runner.result.peak = measure_peak(*runner.device.backend, runner.device.arithmetic);
        }
    });
}

void take_turn(Runner& runner, ProgressMeter& progress) {
    progress.step(runner.device.info.id);
    attempt(runner, [&] { runner.result.seconds.push_back(seconds_of_run(*runner.work)); });
}

// Whether the models of devices in host memory fit there at the same time.
bool fit_together(const BenchPlan& plan, const std::vector<Runner>& runners) {
    double bytes = 0.0;
    double memory = 0.0;
    for (const Runner& each : runners) {
        const DeviceInfo& device = each.device.info;
        if (each.result.error.empty() && !device.gpu) {
            bytes += least_bytes(plan, each.device.arithmetic);
            memory = std::max(memory, static_cast<double>(device.memory_bytes));
        }
    }
    return memory == 0.0 || bytes <= memory;
}

// The devices take turns, so that other load on the machine affects all equally. If the models do not fit in memory
// together, the devices run one after the other.
void measure(const BenchPlan& plan, int repeat, std::vector<Runner>& runners) {
    ProgressMeter progress("run", repeat * std::ssize(runners));
    if (!fit_together(plan, runners)) {
        for (Runner& each : runners) {
            progress.add(0, "preparing " + each.device.info.id);
            start(plan, each);
            for (int i = 0; i < repeat; ++i) {
                take_turn(each, progress);
            }
            finish(plan, each);
        }
        return;
    }
    for (Runner& each : runners) {
        progress.add(0, "preparing " + each.device.info.id);
        start(plan, each);
    }
    for (int i = 0; i < repeat; ++i) {
        for (Runner& each : runners) {
            take_turn(each, progress);
        }
    }
    for (Runner& each : runners) {
        finish(plan, each);
    }
}

// The time of each op in one run, after a warm-up.
void profile(const BenchPlan& plan, BenchResult& result) {
    Instrumented backend(open_device(result.device.id, plan.open_options), {.time = true});
    const std::unique_ptr<BenchWork> work = work_of(plan, backend, result.arithmetic);
    work->warm_up();
    const OpTimes before = backend.times();
    work->run();
    OpTimes times = backend.times();
    for (const auto& [name, time] : before) {
        times[name].calls -= time.calls;
        times[name].seconds -= time.seconds;
    }
    std::erase_if(times, [](const auto& entry) { return entry.second.calls == 0; });
    result.profile = std::move(times);
    result.profile_events = backend.events();
}

}  // namespace

std::vector<BenchResult> measure_devices(const BenchPlan& plan, std::vector<BenchDevice> devices, int repeat,
                                         bool profiled) {
    std::vector<Runner> runners;
    for (BenchDevice& device : devices) {
        Runner& runner = runners.emplace_back();
        runner.result.device = device.info;
        runner.result.arithmetic = device.arithmetic;
        runner.result.error = device.error;
        runner.device = std::move(device);
    }
    measure(plan, repeat, runners);
    for (Runner& each : runners) {
        each.device.backend.reset();
    }
    std::vector<BenchResult> results;
    for (Runner& each : runners) {
        if (profiled) {
            attempt(each, [&] { profile(plan, each.result); });
        }
        results.push_back(std::move(each.result));
    }
    return results;
}

}  // namespace headscope
