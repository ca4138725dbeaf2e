// The catalogue on devices.
#include "conformance/run.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <utility>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "conformance/cases/catalogue.h"
#include "conformance/speed.h"
#include "devices.h"
#include "doublings.h"
#include "registry/registry.h"
#include "software_device.h"
#include "support/processors.h"
#include "tests/house/environment.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

std::set<std::string> ops_of(const Report& report) {
    std::set<std::string> ops;
    for (const Result& result : report.devices[0].results) {
        ops.insert(result.op);
    }
    return ops;
}

template <class Words>
bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string a_vulkan_device() {
    const std::vector<std::string> ids = devices_under_test();
    const auto found =
        std::find_if(ids.begin(), ids.end(), [](const std::string& id) { return id.starts_with("vulkan"); });
    return found == ids.end() ? "" : *found;
}

// A Vulkan device by each of its paths; empty if there is none.
Plan every_path(std::vector<std::string> dtypes = {}) {
    Plan wanted = plan({}, std::move(dtypes));
    const std::string id = a_vulkan_device();
    wanted.devices = id.empty() ? std::vector<std::string>{} : std::vector{id};
    wanted.full = true;
    return wanted;
}

// A few cases of two ops show what a run does with paths; only one of them reduces and reads texels.
std::vector<Case> softmaxes() {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{1, 2, 3, 33}, Shape{1, 2, 3, 64}, Shape{1, 1, 2, 257}}) {
        cases.push_back(
            make_case(shape.to_string(), {Operand("scores", shape), Operand("weights", shape)}, [](const Operands& t) {
                return MaskedSoftmax{t["scores"], t["weights"], {}};
            }).sums(static_cast<double>(shape[3])));
    }
    return cases;
}

std::vector<Case> appends() {
    return {make_case(
        "[1, 2, 3, 8]",
        {Operand("x", {1, 2, 3, 8}), Operand("position", {1}, these({1})), Operand("cache", {1, 2, 8, 8}).exact()},
        [](const Operands& t) {
            return CacheAppend{t["x"], t["position"], t["cache"]};
        })};
}

std::vector<Family> softmaxes_and_appends() {
    return {{.name = "attention",
             .groups = {{"softmax", "softmax", softmaxes}, {"cache", "appending to a cache", appends}}}};
}

template <std::size_t Count>
std::vector<Case> row_copies() {
    return std::vector<Case>(
        Count, make_case("[3, 33]", {Operand("x", {3, 33}), Operand("out", {3, 33})}, [](const Operands& t) {
            return Copy{t["x"], t["out"], t.write("out")};
        }));
}

}  // namespace

TEST_CASE("a run tests a device with the requested ops, families and dtypes", "[run]") {
    const Report softmax = run(plan({"masked_softmax"}), catalogue());
    CHECK(softmax.passed());
    CHECK(ops_of(softmax) == std::set<std::string>{"masked_softmax"});
    CHECK(softmax.devices[0].device.id == "cpu");
    CHECK(softmax.devices[0].runs() > 50);
    CHECK(ops_of(run(plan({"loss"}), catalogue())) == std::set<std::string>{"smoothed_cross_entropy"});
    for (const Result& result : run(plan({"copy"}, {"bf16"}), catalogue()).devices[0].results) {
        CHECK_THAT(result.precision, Contains("bf16"));
        CHECK(result.passed());
        CHECK(result.runs > 0);
    }
}

TEST_CASE("what a device lacks is a result without runs, with the reason", "[run]") {
    const Report report = run(plan({"sum_rows"}), catalogue());
    const auto missing = std::count_if(
        report.devices[0].results.begin(), report.devices[0].results.end(),
        [](const Result& result) { return result.missing() && result.runs == 0 && !result.shortfalls.empty(); });
    CHECK(missing == 4);  // F16 and BF16, in two groups
    CHECK(report.passed());
}

TEST_CASE("a wrong device fails, with the size of its error", "[run]") {
    const Family wrong{.name = "wrong", .groups = {{"doublings", "twice as much", doublings}}};
    const Report report = run(plan({}), {wrong});
    CHECK_FALSE(report.passed());
    const Result& result = report.devices[0].results[0];
    CHECK(result.closeness.of_bound > 100.0);
    CHECK(result.closeness.worst_relative == Approx(0.0005).epsilon(0.5));
    CHECK(result.closeness.nmse == Approx(2.5e-7).epsilon(0.01));
    REQUIRE_FALSE(result.complaints.empty());
    CHECK_THAT(result.complaints[0], Contains("cpu: add_scaled [3, 33] (contiguous): out[0] of [3, 33]"));
    CHECK(result.runs == 12);  // in every layout and in place, aligned and not
    CHECK(result.failed_runs == 12);
    CHECK(result.seconds > 0.0);
    CHECK(result.seconds <= report.devices[0].seconds);
    CHECK(report.devices[0].date.size() == std::string("2026-11-22T13:40:05Z").size());
}

TEST_CASE("a device that can no longer be opened fails, and others are reported", "[run]") {
    Plan wanted = plan({"fill"}, {"f32"});
    wanted.devices = {"cpu", "abacus", "cpu"};
    int asked = 0;
    wanted.open = [&](const std::string& path, const std::string& device) -> std::unique_ptr<Backend> {
        if (device == "abacus" && ++asked > 1) {  // it was there before
            throw Error("all beads are gone");
        }
        return open_device_by(path, "cpu");
    };
    const Report report = run(wanted, catalogue());
    REQUIRE(report.devices.size() == 3);
    CHECK(report.devices[0].passed());
    CHECK(report.devices[2].passed());
    CHECK_FALSE(report.devices[1].passed());
    CHECK(report.devices[1].device.id == "abacus");
    CHECK(report.devices[1].failure == "all beads are gone");
    CHECK_FALSE(report.passed());
}

TEST_CASE("on software Vulkan two threads share the groups, and large groups split the 16-bit storages", "[run]") {
    Plan wanted = plan({});
    std::atomic<int> opened = 0;
    wanted.open = [&](const std::string& path, const std::string& device) {
        ++opened;
        return std::make_unique<SoftwareDevice>(open_device_by(path, device, environment_options()));
    };
    std::vector<Family> families{{.name = "late"}, {.name = "early"}};
    for (Family& family : families) {
        family.groups = {{"c", "c", row_copies<8>}, {"b", "b", row_copies<8>}, {"a", "a", row_copies<4>}};
    }
    const DeviceReport report = run(wanted, families).devices.at(0);
    CHECK(report.passed());
    CHECK(opened == (processors() > 1 ? 3 : 2));  // one to see that it is there
    std::vector<std::string> order;
    for (const Result& result : report.results) {
        const bool takes_turns = result.group != "a" && result.precision != "f32";
        CHECK(result.cases == (takes_turns ? 2 : result.group == "a" ? 4 : 8));
        if (result.precision == "bf16") {
            order.push_back(result.family + " " + result.group);
        }
    }
    CHECK(order == std::vector<std::string>{"late c", "late b", "late a", "early c", "early b", "early a"});
    wanted.dtypes = {"bf16"};
    for (const Result& result : run(wanted, families).devices.at(0).results) {
        CHECK(result.cases == (result.group == "a" ? 4 : 8));
    }
}

TEST_CASE("a run uses the requested paths next to the device's own choice", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::string id = a_vulkan_device();
    if (id.empty()) {
        return;
    }
    Plan wanted = plan({"masked_softmax"}, {"f32"});
    wanted.devices = {id};
    wanted.paths = {"no-subgroups"};
    std::set<std::string> paths;
    for (const Result& result : run(wanted, catalogue()).devices.at(0).results) {
        paths.insert(result.path);
    }
    CHECK(paths == std::set<std::string>{"", "no-subgroups"});
    wanted.paths = {"sideways"};
    wanted.progress = [](const Doing&) { FAIL("something runs before it is refused"); };
    CHECK_THROWS_WITH(run(wanted, catalogue()), Contains("no path \"sideways\"") && Contains("no-subgroups"));
}

TEST_CASE("an unknown op, dtype or device is an error that lists what there is", "[run]") {
    CHECK_THROWS_WITH(run(plan({"softmax"}), catalogue()), Contains("\"softmax\"") && Contains("masked_softmax"));
    CHECK_THROWS_WITH(run(plan({}, {"f64"}), catalogue()), Contains("\"f64\"") && Contains("bf16"));
    CHECK_THROWS_WITH(run(plan({"square_sum"}, {"i8"}), catalogue()), Contains("nothing to do on cpu"));
    Plan elsewhere = plan({});
    elsewhere.devices = {"abacus"};
    CHECK_THROWS_WITH(run(elsewhere, catalogue()), Contains("unknown device \"abacus\""));
}

TEST_CASE("a path is tested only where it runs other kernels", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Plan wanted = every_path();
    if (wanted.devices.empty()) {
        return;
    }
    const Report report = run(wanted, softmaxes_and_appends());
    CHECK(report.passed());
    std::set<std::string> paths;
    for (const Result& result : report.devices[0].results) {
        if (result.runs > 0) {
            CHECK_FALSE(result.kernels.empty());
            paths.insert(result.op + " " + result.path);
        }
        if (result.path == "no-subgroups") {
            for (const std::string& kernel : result.kernels) {
                CHECK_THAT(kernel, Contains("masked_softmax") && Contains("through shared memory"));
            }
        }
    }
    const std::vector<std::string>& known = report.devices[0].device.paths;
    if (has(known, "no-subgroups")) {
        CHECK(paths.count("masked_softmax no-subgroups") == 1);
    }
    if (has(known, "no-texel-loads")) {
        CHECK(paths.count("masked_softmax no-texel-loads") == 1);
    }
    CHECK(paths.count("cache_append no-subgroups") == 0);
    CHECK(paths.count("masked_softmax no-vector-loads") == 1);
    CHECK(paths.count("cache_append no-vector-loads") == 0);
    CHECK(paths.count("masked_softmax ") == 1);
    CHECK(paths.count("cache_append ") == 1);
}

TEST_CASE("a path is timed only where it runs other kernels", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    Plan wanted = every_path({"f32"});
    if (wanted.devices.empty()) {
        return;
    }
    wanted.timed = true;
    const auto timed = [](const Workload&) { return std::vector{softmaxes()[1], appends()[0]}; };
    std::vector<Family> families = softmaxes_and_appends();
    families[0].speeds = timed;
    const Report report = run(wanted, families);
    CHECK(report.passed());
    std::multiset<std::string> speeds;
    for (const Result& result : report.devices[0].results) {
        if (result.group == "speed") {
            CHECK_FALSE(result.kernels.empty());
            CHECK(result.speeds.size() == 1);
            speeds.insert(result.op + " " + result.path);
        }
    }
    CHECK(speeds.count("masked_softmax ") == 1);
    CHECK(speeds.count("cache_append ") == 1);
    CHECK(speeds.count("masked_softmax no-vector-loads") == 1);
    CHECK(speeds.count("cache_append no-vector-loads") == 0);
    if (has(report.devices[0].device.paths, "no-subgroups")) {
        CHECK(speeds.count("masked_softmax no-subgroups") == 1);
        CHECK(speeds.count("cache_append no-subgroups") == 0);
    }
}

TEST_CASE("a path that holds much is reopened: for memory, and for kernels on software devices", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    Plan wanted = every_path({"f32"});
    if (wanted.devices.empty()) {
        return;
    }
    wanted.ops = {"masked_softmax"};
    std::map<std::string, int> opened;
    wanted.open = [&](const std::string& path, const std::string& device) {
        ++opened[path];
        return open_device_by(path, device, environment_options());
    };
    CHECK(run(wanted, softmaxes_and_appends()).passed());
    CHECK(opened.at("no-vector-loads") == 1);  // a few of it
    opened.clear();
    wanted.kernels_held = 0;
    const Report report = run(wanted, softmaxes_and_appends());
    CHECK(report.passed());
    CHECK((opened.at("no-vector-loads") > 1) == report.devices[0].device.software);
    CHECK((opened.at("") > 2) == report.devices[0].device.software);  // one of them to see that it is there
    opened.clear();
    wanted.kernels_held = 64;
    wanted.bytes_held = 0;
    CHECK(run(wanted, softmaxes_and_appends()).passed());
    CHECK(opened.at("no-vector-loads") > 1);
    CHECK((opened.at("") > 2) == report.devices[0].device.software);
}

TEST_CASE("a path is tested if any layout of a case runs other kernels", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const auto copies = [] {
        return std::vector{
            make_case("[3, 36]", {Operand("x", {3, 36}), Operand("out", {3, 36})},
                      [](const Operands& t) { return Copy{.x = t["x"], .out = t["out"], .write = t.write("out")}; })};
    };
    const Plan wanted = every_path({"f32"});
    if (wanted.devices.empty()) {
        return;
    }
    const Report report = run(wanted, {{.name = "copies", .groups = {{"copies", "copies", copies}}}});
    CHECK(report.passed());
    std::set<std::string> paths;
    bool by_queue = false;
    for (const Result& result : report.devices[0].results) {
        paths.insert(result.path);
        by_queue = by_queue || has(result.kernels, "copy by the queue");
    }
    const std::vector<std::string>& known = report.devices[0].device.paths;
    CHECK(paths.count("no-vector-loads") == 1);
    CHECK(paths.count("small-bindings") == static_cast<std::size_t>(has(known, "small-bindings")));
    CHECK(by_queue == has(known, "no-transfers"));
}

TEST_CASE("every path of a device can be opened, and no other", "[run]") {
    for (const std::string& id : devices_under_test()) {
        const std::unique_ptr<Backend> chosen = open_device(id, environment_options());
        for (const std::string& path : chosen->device().paths) {
            INFO(id << " " << path);
            CHECK(open_device_by(path, id, environment_options())->device().id == id);
        }
        CHECK_THROWS_WITH(open_device_by("scenic", id, environment_options()),
                          Contains(id + " has no path \"scenic\""));
    }
}

TEST_CASE("a case's precision has a name", "[run]") {
    const Case plain = doublings()[0];
    CHECK(precision_of(plain) == "f32");
    CHECK(precision_of(plain.stored_in(DType::F16)) == "f16");
    Case product = plain;
    product.compute = Compute::BF16;
    CHECK(precision_of(product) == "bf16 products");
    Case narrow = plain;
    narrow.operands[0] = narrow.operands[0].narrow(DType::I8);
    CHECK(precision_of(narrow) == "i8 weights");
    Case mixed = plain;
    mixed.operands[0] = mixed.operands[0].typed(DType::BF16);
    CHECK(precision_of(mixed) == "f32+bf16");
}

TEST_CASE("a speed is in bytes, or in operations if the case states them", "[run]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    Case stated = doublings()[0];
    const Speed bytes = measure(*cpu, stated, generate(stated));
    CHECK(bytes.seconds > 0.0);
    CHECK(bytes.amount == 2 * 3 * 33 * 4.0);
    CHECK(std::string(bytes.unit()) == "GB/s");
    stated.arithmetic = 1e9;
    const Speed arithmetic = measure(*cpu, stated, generate(stated));
    CHECK(arithmetic.amount == 1e9);
    CHECK(std::string(arithmetic.unit()) == "GFLOP/s");
}
