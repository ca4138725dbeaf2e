// Single cases of a run, and the progress that a run reports.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "conformance/report.h"
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

std::vector<Case> three_doublings() {
    const Case right = doubling([] {});
    return {right.named("[3, 33] first"), doublings()[0].named("[3, 33] it's second"), right.named("[3, 33] third")};
}

std::vector<Family> three() {
    return {{.name = "scaling", .groups = {{"doublings", "twice as much", three_doublings}}}};
}

// A device with a kernel for everything, and one more at each query.
class Telling final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    std::vector<std::string> drain_kernel_names() override { return {"kernel " + std::to_string(++looks_)}; }

private:
    int looks_ = 0;
};

// The progress that a run reports for its cases.
std::vector<Doing> doings_of(Plan wanted) {
    std::vector<Doing> seen;
    wanted.progress = [&](const Doing& doing) { seen.push_back(doing); };
    run(wanted, three());
    return seen;
}

}  // namespace

TEST_CASE("a run can be limited to cases whose titles contain a text", "[run][case]") {
    Plan wanted = plan({}, {"f32"});
    wanted.case_text = "add_scaled [3, 33] third";
    const Report report = run(wanted, three());
    CHECK(report.passed());
    REQUIRE(report.devices[0].results.size() == 1);
    CHECK(report.devices[0].results[0].cases == 1);
    wanted.dtypes.clear();
    wanted.case_text = "third stored in F16";
    REQUIRE(run(wanted, three()).devices[0].results.size() == 1);
    CHECK(run(wanted, three()).devices[0].results[0].precision == "f16");
}

TEST_CASE("a text that matches no case is an error that names some", "[run][case]") {
    Plan wanted = plan({}, {"f32"});
    wanted.case_text = "fourth";
    CHECK_THROWS_WITH(run(wanted, three()), Contains("no case is called \"fourth\"") && Contains("there are 3 cases") &&
                                                Contains("add_scaled [3, 33] first; ") && Contains("third"));
}

TEST_CASE("a failed case has the command that repeats it, and only its own kernels", "[run][case]") {
    Plan wanted = plan({}, {"f32"});
    wanted.open = [](const std::string& path, const std::string& device) {
        return std::make_unique<Telling>(open_device_by(path, device, environment_options()));
    };
    const Report report = run(wanted, three());
    const Result& result = report.devices[0].results.at(0);
    REQUIRE(result.failed.size() == 1);
    CHECK(result.failed[0].title == "add_scaled [3, 33] it's second");
    CHECK(result.failed[0].repeat ==
          "headscope conform --device cpu --op add_scaled --dtype f32 --path chosen --case "
          "'add_scaled [3, 33] it'\\''s second'");
    CHECK(result.failed[0].kernels.size() == 1);
    CHECK(result.kernels.size() == 3);
    wanted.case_text = result.failed[0].title;
    wanted.ops = {result.op};
    wanted.paths = {kChosenPath};
    wanted.full = true;
    const Report again = run(wanted, three());
    CHECK(again.devices[0].results.at(0).complaints == result.complaints);
    CHECK(again.devices[0].results.at(0).cases == 1);
}

TEST_CASE("the command that repeats a case names its precision as --dtype does", "[case]") {
    const auto repeated = [](const std::string& precision, const std::string& path) {
        return repeat_command("vulkan:1", {.op = "matmul", .precision = precision, .path = path}, "x");
    };
    CHECK(repeated("bf16 products", "large-tiles") ==
          "headscope conform --device vulkan:1 --op matmul --dtype bf16 --path large-tiles --case 'x'");
    CHECK_THAT(repeated("f32+f16", ""), Contains(" --dtype f32 --path chosen "));
    CHECK_THAT(repeated("f64", ""), Contains(" --op matmul --path chosen "));
}

TEST_CASE("a run reports each case before it runs: where, how and in what", "[run][case]") {
    const std::vector<Doing> seen = doings_of(plan({}, {"f32"}));
    REQUIRE(seen.size() == 3);
    CHECK(seen[2].text == "cpu, as it chooses, f32: add_scaled [3, 33] third (twice as much)");
    CHECK(seen[2].repeat ==
          "headscope conform --device cpu --op add_scaled --dtype f32 --path chosen --case 'add_scaled [3, 33] third'");
}

TEST_CASE("an interrupted run ends after the current case, and reports its results", "[run][case]") {
    Plan wanted = plan({}, {"f32"});
    wanted.devices = {"cpu", "cpu:oracle"};
    int begun = 0;
    wanted.progress = [&](const Doing&) { ++begun; };
    wanted.stop_requested = [&] { return begun == 2; };
    const Report report = run(wanted, three());
    CHECK(report.interrupted());
    CHECK_FALSE(report.passed());
    REQUIRE(report.devices.size() == 2);
    CHECK(report.devices[0].interrupted);
    CHECK(report.devices[0].failure == "it was interrupted");
    REQUIRE(report.devices[0].results.size() == 1);
    CHECK(report.devices[0].results[0].cases == 2);
    CHECK(report.devices[1].interrupted);
    CHECK(report.devices[1].results.empty());
    CHECK(begun == 2);
}

TEST_CASE("failures do not count as an interruption", "[run][case]") {
    CHECK_FALSE(run(plan({}, {"f32"}), three()).interrupted());
}

TEST_CASE("a case whose device is lost outside its runs has a command to repeat it", "[run][case]") {
    const auto one = [] { return std::vector{doubling([] { throw DeviceLost("it is gone"); })}; };
    const DeviceReport report =
        run(plan({}, {"f32"}), {{.name = "one", .groups = {{"one", "one", one}}}}).devices.at(0);
    REQUIRE(report.results.at(0).failed.size() == 1);
    CHECK(report.results[0].failed_runs == 1);
}
