// What remains of a conformance run whose device is lost.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/forwarding_backend.h"
#include "conformance/run.h"
#include "doublings.h"
#include "registry/registry.h"
#include "software_device.h"
#include "support/check.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

// Opens for the check that the device exists and for the first case, and then no more.
Plan opened_twice(Plan wanted) {
    wanted.open = [opened = 0](const std::string& path, const std::string& device) mutable {
        if (++opened > 2) {
            throw Error("and does not come back");
        }
        return open_device_by(path, device, environment_options());
    };
    return wanted;
}

// A device that is lost when asked for BF16 products.
class LostInTrial final : public ForwardingBackend {
public:
    LostInTrial(std::unique_ptr<Backend> inner, bool& lost) : ForwardingBackend(std::move(inner)), lost_(lost) {}
    Support products(Compute compute) const override {
        if (compute == Compute::BF16 && !std::exchange(lost_, true)) {
            throw DeviceLost("it hung in its trial");
        }
        return ForwardingBackend::products(compute);
    }

private:
    bool& lost_;
};

// A device with another path and kernels.
class Scenic final : public ForwardingBackend {
public:
    Scenic(std::unique_ptr<Backend> inner, std::string path)
        : ForwardingBackend(std::move(inner)), path_(std::move(path)) {
        info_ = ForwardingBackend::device();
        info_.paths = {"scenic"};
    }
    const DeviceInfo& device() const override { return info_; }
    std::vector<std::string> drain_kernel_names() override { return {"doubling " + path_}; }

private:
    std::string path_;
    DeviceInfo info_;
};

}  // namespace

TEST_CASE("a case that loses the device fails, and later cases get a fresh one", "[run]") {
    static int runs = 0;  // groups make their cases by functions without state
    runs = 0;
    const auto three = [] {
        return std::vector{doubling([] {}), doubling([] {
                               ++runs;
                               throw DeviceLost("it is gone");
                           }),
                           doubling([] {})};
    };
    Plan wanted = plan({}, {"f32"});
    int opened = 0;
    wanted.open = [&](const std::string& path, const std::string& device) {
        ++opened;
        return open_device_by(path, device, environment_options());
    };
    const Report report = run(wanted, {{.name = "three", .groups = {{"three", "three", three}}}});
    CHECK(opened == 3);  // before all, for the first case, and after the second
    REQUIRE(report.devices[0].results.size() == 1);
    const Result& result = report.devices[0].results[0];
    CHECK(result.cases == 3);
    REQUIRE(result.complaints.size() == 1);
    CHECK_THAT(result.complaints[0], Contains("it is gone"));
    CHECK(report.devices[0].failure.empty());
    CHECK(runs == 1);  // no other layout runs on a lost device
}

TEST_CASE("a device lost before a case runs fails it, and later cases get a fresh one", "[run]") {
    const auto products = [] {
        Case rounded = doublings()[0];
        rounded.run = doubling([] {}).run;
        rounded.compute = Compute::BF16;
        return std::vector{rounded, doubling([] {})};
    };
    Plan wanted = plan({});
    bool lost = false;
    int opened = 0;
    wanted.open = [&](const std::string& path, const std::string& device) {
        ++opened;
        return std::make_unique<LostInTrial>(open_device_by(path, device, environment_options()), lost);
    };
    const DeviceReport report = run(wanted, {{.name = "two", .groups = {{"two", "two", products}}}}).devices.at(0);
    CHECK(report.failure.empty());
    CHECK(opened == 3);  // before all, for the case that loses it, and after that
    REQUIRE_FALSE(report.results.empty());
    CHECK(report.results[0].precision == "bf16 products");
    REQUIRE(report.results[0].complaints.size() == 1);
    CHECK_THAT(report.results[0].complaints[0], Contains("it hung in its trial"));
    CHECK(report.failures() == 1);
    CHECK(report.results.size() > 1);
}

TEST_CASE("a device lost by its last case is not reopened, and is described as it was", "[run]") {
    const auto one = [] { return std::vector{doubling([] { throw DeviceLost("it is gone"); })}; };
    const Plan wanted = opened_twice(plan({}, {"f32"}));
    const DeviceReport report = run(wanted, {{.name = "one", .groups = {{"one", "one", one}}}}).devices.at(0);
    CHECK(report.failure.empty());
    CHECK(report.failures() == 1);
    CHECK(report.device.id == "cpu");
}

TEST_CASE("a device that is lost and cannot be reopened keeps its results", "[run]") {
    const auto three = [] {
        return std::vector{doubling([] {}), doubling([] { throw DeviceLost("it is gone"); }), doubling([] {})};
    };
    const Plan wanted = opened_twice(plan({}, {"f32"}));
    const DeviceReport report = run(wanted, {{.name = "three", .groups = {{"three", "three", three}}}}).devices.at(0);
    CHECK(report.device.id == "cpu");
    CHECK(report.failure == "and does not come back");
    REQUIRE(report.results.size() == 1);
    CHECK(report.results[0].cases == 2);
    CHECK(report.results[0].runs > 1);
}

TEST_CASE("a device lost before a case, and not reopened, keeps the case's complaint", "[run]") {
    const auto products = [] {
        Case rounded = doublings()[0];
        rounded.compute = Compute::BF16;
        return std::vector{rounded};
    };
    Plan wanted = opened_twice(plan({}));
    bool lost = false;
    wanted.open = [&, open = wanted.open](const std::string& path, const std::string& device) {
        return std::make_unique<LostInTrial>(open(path, device), lost);
    };
    const DeviceReport report = run(wanted, {{.name = "one", .groups = {{"one", "one", products}}}}).devices.at(0);
    REQUIRE_FALSE(report.results.empty());
    REQUIRE(report.results[0].complaints.size() == 1);
    CHECK_THAT(report.results[0].complaints[0], Contains("it hung in its trial"));
}

TEST_CASE("a case that loses the device while timed fails, and the device is not reopened for that", "[run]") {
    static int runs = 0;
    runs = 0;
    // Correct whenever it is examined.
    const auto one = [] { return std::vector{doubling([] { ++runs; })}; };
    const auto timed = [](const Workload&) { return std::vector{doubling([] { throw DeviceLost("it overheats"); })}; };
    Plan wanted = opened_twice(plan({}, {"f32"}));
    wanted.timed = true;
    const DeviceReport report =
        run(wanted, {{.name = "one", .groups = {{"one", "one", one}}, .speeds = timed}}).devices.at(0);
    CHECK(runs > 0);
    CHECK(report.failure.empty());
    REQUIRE(report.results.size() == 2);
    CHECK(report.results[0].passed());
    CHECK(report.results[1].group == "speed");
    REQUIRE(report.results[1].complaints.size() == 1);
    CHECK_THAT(report.results[1].complaints[0], Contains("it overheats"));
}

TEST_CASE("a case that fails or loses the device while timed is timed by no other path", "[run]") {
    static int timings = 0;
    const auto examined = [] { return std::vector{doubling([] {})}; };
    const auto lost = [](const Workload&) {
        return std::vector{doubling([] {
            ++timings;
            throw DeviceLost("it overheats");
        })};
    };
    const auto full = [](const Workload&) {
        return std::vector{doubling([] {
            ++timings;
            throw OutOfMemory("it has none");
        })};
    };
    Plan wanted = plan({}, {"f32"});
    wanted.timed = true;
    wanted.paths = {"scenic"};
    wanted.open = [](const std::string& path, const std::string& device) {
        return std::make_unique<Scenic>(open_device(device, environment_options()), path);
    };
    const auto right = [](const Workload&) { return std::vector{doubling([] {})}; };
    const std::vector<Family> well{{.name = "one", .groups = {{"one", "one", examined}}, .speeds = right}};
    CHECK(run(wanted, well).devices.at(0).results.size() == 4);  // both paths, examined and timed
    for (const auto speeds : {static_cast<std::vector<Case> (*)(const Workload&)>(lost),
                              static_cast<std::vector<Case> (*)(const Workload&)>(full)}) {
        timings = 0;
        const DeviceReport report =
            run(wanted, {{.name = "one", .groups = {{"one", "one", examined}}, .speeds = speeds}}).devices.at(0);
        CHECK(report.failure.empty());
        CHECK(report.failures() == 1);
        CHECK(timings <= 2);  // once to see what it runs
    }
}

TEST_CASE("a device that is lost repeatedly is given up", "[run]") {
    const auto many = [] { return std::vector<Case>(20, doubling([] { throw DeviceLost("it is gone"); })); };
    const DeviceReport report =
        run(plan({}, {"f32"}), {{.name = "many", .groups = {{"many", "many", many}}}}).devices.at(0);
    CHECK(report.failure == "cpu was lost 8 times, and is not tried any further");
    REQUIRE(report.results.size() == 1);
    CHECK(report.results[0].cases == 8);
}

TEST_CASE("losses of one device in two threads are counted together", "[run]") {
    static std::atomic<int> begun = 0;  // the first waits for the other thread, if any
    begun = 0;
    const auto five = [] {
        return std::vector<Case>(5, doubling([] {
                                     ++begun;
                                     for (int wait = 0; wait < 100 && begun < 2; ++wait) {
                                         std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                     }
                                     throw DeviceLost("it is gone");
                                 }));
    };
    Plan wanted = plan({}, {"f32"});
    wanted.open = [](const std::string& path, const std::string& device) {
        return std::make_unique<SoftwareDevice>(open_device_by(path, device, environment_options()));
    };
    const DeviceReport report =
        run(wanted,
            {{.name = "many", .groups = {{"a", "a", five}, {"b", "b", five}, {"c", "c", five}, {"d", "d", five}}}})
            .devices.at(0);
    CHECK_THAT(report.failure, Contains("times, and is not tried any further"));
    std::size_t cases = 0;
    for (const Result& result : report.results) {
        cases += result.cases;
    }
    CHECK(cases >= 8);
    CHECK(cases <= 9);  // the other thread may have been running one
}
