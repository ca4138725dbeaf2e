// The catalogue on devices.
#include "conformance/run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <utility>

#include "conformance/cases/catalogue.h"
#include "conformance/speed.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/backend/forwarding_backend.h"
#include "tests/house/environment.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

Plan plan(std::vector<std::string> ops, std::vector<std::string> dtypes = {}) {
    return {.devices = {"cpu"}, .ops = std::move(ops), .dtypes = std::move(dtypes), .full = false, .timed = false};
}

std::set<std::string> ops_of(const Report& report) {
    std::set<std::string> ops;
    for (const Result& result : report.devices[0].results) {
        ops.insert(result.op);
    }
    return ops;
}

// Doubles what it is given, but for a device that is not the oracle, which is told another factor.
std::vector<Case> doublings() {
    Case stated = make_case("[3, 33]", {in("a", {3, 33}), out("out", {3, 33})},
                            [](const Operands& t) { return AddScaled{.a = t["a"], .out = t["out"], .alpha = 2.0F}; });
    stated.run = [](Backend& backend, const Operands& t) {
        const float alpha = backend.real() == DType::F64 ? 2.0F : 2.001F;
        backend.run(AddScaled{.a = t["a"], .out = t["out"], .alpha = alpha});
    };
    return {stated};
}

// Doubles what it is given; on any device but the oracle `then` follows.
template <class Then>
Case doubling(Then then) {
    Case stated = doublings()[0];
    stated.run = [then](Backend& backend, const Operands& t) {
        backend.run(AddScaled{.a = t["a"], .out = t["out"], .alpha = 2.0F});
        if (backend.real() != DType::F64) {
            then();
        }
    };
    return stated;
}

// Which sees that the device is there and runs the first case on it, and then no more.
Plan opened_twice(Plan wanted) {
    wanted.open = [opened = 0](const std::string& path, const std::string& device) mutable {
        if (++opened > 2) {
            throw Error("and does not come back");
        }
        return open_device_by(path, device);
    };
    return wanted;
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

}  // namespace

TEST_CASE("a run holds a device to the ops, families and dtypes that were asked for", "[run]") {
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

TEST_CASE("a device that is wrong fails, and is told how far off it is", "[run]") {
    const Family wrong{.name = "wrong", .groups = {{"doublings", "twice as much", doublings}}};
    const Report report = run(plan({}), {wrong});
    CHECK_FALSE(report.passed());
    const Result& result = report.devices[0].results[0];
    CHECK(result.closeness.of_bound > 100.0);
    CHECK(result.closeness.worst_relative == Approx(0.0005).epsilon(0.5));
    CHECK(result.closeness.nmse == Approx(2.5e-7).epsilon(0.01));
    REQUIRE_FALSE(result.complaints.empty());
    CHECK_THAT(result.complaints[0], Contains("cpu: add_scaled [3, 33] (contiguous): out[0] of [3, 33]"));
}

TEST_CASE("a case that loses the device fails, and what follows has a fresh one", "[run]") {
    static int runs = 0;  // groups make their cases by functions that hold nothing
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
        return open_device_by(path, device);
    };
    const Report report = run(wanted, {{.name = "three", .groups = {{"three", "three", three}}}});
    CHECK(opened == 3);  // before all, for the first case, and after the second
    REQUIRE(report.devices[0].results.size() == 1);
    const Result& result = report.devices[0].results[0];
    CHECK(result.cases == 3);
    REQUIRE(result.complaints.size() == 1);
    CHECK_THAT(result.complaints[0], Contains("it is gone"));
    CHECK(report.devices[0].failure.empty());
    CHECK(runs == 1);  // no other layout is tried on what is lost
}

namespace {

// A device that is lost when it is asked for products in BF16, as where they are tried first.
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

}  // namespace

TEST_CASE("a device that is lost before a case runs fails it, and what follows has a fresh one", "[run]") {
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
        return std::make_unique<LostInTrial>(open_device_by(path, device), lost);
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

TEST_CASE("a device whose last case loses it is not opened again, and is told as it was", "[run]") {
    const auto one = [] { return std::vector{doubling([] { throw DeviceLost("it is gone"); })}; };
    const Plan wanted = opened_twice(plan({}, {"f32"}));
    const DeviceReport report = run(wanted, {{.name = "one", .groups = {{"one", "one", one}}}}).devices.at(0);
    CHECK(report.failure.empty());
    CHECK(report.failures() == 1);
    CHECK(report.device.id == "cpu");
}

TEST_CASE("a device that cannot be opened any more fails, and others have their reports", "[run]") {
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

TEST_CASE("a device that is lost and does not come back keeps what was found out", "[run]") {
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

TEST_CASE("an op, a dtype or a device that is not there is an error that says what there is", "[run]") {
    CHECK_THROWS_WITH(run(plan({"softmax"}), catalogue()), Contains("\"softmax\"") && Contains("masked_softmax"));
    CHECK_THROWS_WITH(run(plan({}, {"f64"}), catalogue()), Contains("\"f64\"") && Contains("bf16"));
    CHECK_THROWS_WITH(run(plan({"square_sum"}, {"i8"}), catalogue()), Contains("nothing was to be done on cpu"));
    Plan elsewhere = plan({});
    elsewhere.devices = {"abacus"};
    CHECK_THROWS_WITH(run(elsewhere, catalogue()), Contains("unknown device \"abacus\""));
}

TEST_CASE("a path is tried where it runs other kernels, and nowhere else", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::string id = a_vulkan_device();
    if (id.empty()) {
        return;
    }
    Plan wanted = plan({"masked_softmax", "cache_append"});
    wanted.devices = {id};
    wanted.full = true;
    const Report report = run(wanted, catalogue());
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

TEST_CASE("where the CPU plays the device a path that holds many kernels is opened anew", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::string id = a_vulkan_device();
    if (id.empty()) {
        return;
    }
    Plan wanted = plan({"masked_softmax"}, {"f32"});
    wanted.devices = {id};
    wanted.full = true;
    std::map<std::string, int> opened;
    wanted.open = [&](const std::string& path, const std::string& device) {
        ++opened[path];
        return open_device_by(path, device);
    };
    CHECK(run(wanted, catalogue()).passed());
    CHECK(opened.at("no-vector-loads") == 1);  // a few of it
    opened.clear();
    wanted.kernels_held = 0;
    const Report report = run(wanted, catalogue());
    CHECK(report.passed());
    CHECK((opened.at("no-vector-loads") > 1) == report.devices[0].device.software);
    CHECK(opened.at("") == 2);  // once to see that it is there; then what the device chooses stays open
}

TEST_CASE("a path is tried where one layout of a case runs other kernels, whatever its first one does", "[run]") {
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::string id = a_vulkan_device();
    if (id.empty()) {
        return;
    }
    const auto copies = [] {
        return std::vector{
            make_case("[3, 36]", {in("x", {3, 36}).strided(), gradient("out", {3, 36}).strided()},
                      [](const Operands& t) { return Copy{.x = t["x"], .out = t["out"], .write = t.write("out")}; })};
    };
    Plan wanted = plan({}, {"f32"});
    wanted.devices = {id};
    wanted.full = true;
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
        const std::unique_ptr<Backend> chosen = open_device(id);
        for (const std::string& path : chosen->device().paths) {
            INFO(id << " " << path);
            CHECK(open_device_by(path, id)->device().id == id);
        }
        CHECK_THROWS_WITH(open_device_by("scenic", id), Contains(id + " has no path \"scenic\""));
    }
}

TEST_CASE("what a case computes in has a name", "[run]") {
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

TEST_CASE("a speed is of bytes, or of operations where the case states them", "[run]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    Case stated = doublings()[0];
    const Speed bytes = measure(*cpu, stated);
    CHECK(bytes.seconds > 0.0);
    CHECK(bytes.amount == 2 * 3 * 33 * 4.0);
    CHECK(std::string(bytes.unit()) == "GB/s");
    stated.arithmetic = 1e9;
    const Speed arithmetic = measure(*cpu, stated);
    CHECK(arithmetic.amount == 1e9);
    CHECK(std::string(arithmetic.unit()) == "GFLOP/s");
}
