// Several devices timed in turn.
#include "conformance/side_by_side.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "backend/ops.h"
#include "conformance/cases/catalogue.h"
#include "conformance/speed.h"
#include "faulty_backend.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

Case copying(const std::string& name) {
    return make_case(name, {Operand("x", {33}), Operand("out", {33})}, [](const Operands& t) {
        return Copy{t["x"], t["out"], t.write("out")};
    });
}

std::vector<Case> a_copy(const Workload& /*work*/) {
    return {copying("33")};
}

// The second case of the op is so much larger that it would take years.
std::vector<Case> a_copy_and_years_of_copies(const Workload& /*work*/) {
    Case quick = copying("33");
    Case years = copying("years");
    quick.arithmetic = 33.0;
    years.arithmetic = 1e24;
    return {quick, years};
}

Family family(std::vector<Case> (*speeds)(const Workload& work)) {
    return {.name = "elementwise", .speeds = speeds};
}

FaultyBackend device_that(FaultyBackend::Fault fault) {
    return {open_device("cpu"), std::move(fault)};
}
void copies(Backend& inner, const Copy& op) {
    inner.run(op);
}
void fills(Backend& inner, const Copy& op, float value) {
    inner.run(Fill{.out = op.out, .value = value});
}

std::set<std::string> ops_of(const std::vector<OpSpeeds>& found) {
    std::set<std::string> ops;
    for (const OpSpeeds& each : found) {
        ops.insert(each.op);
    }
    return ops;
}

}  // namespace

TEST_CASE("only devices with right results are timed", "[side_by_side]") {
    FaultyBackend right = device_that(copies);
    FaultyBackend wrong = device_that(
        [](Backend& inner, const Copy& op) { inner.run(AddScaled{.a = op.x, .out = op.out, .alpha = 1.001F}); });
    const auto found = time_side_by_side({.repeat = 2}, {family(a_copy)}, {{wrong}, {right}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].op == "copy");
    CHECK(found[0].shape == "33");
    CHECK_THAT(found[0].devices[0].error, Contains("results are wrong") && Contains("copy 33"));
    CHECK_FALSE(found[0].devices[0].speed);
    CHECK(found[0].devices[1].error.empty());
    CHECK(found[0].devices[1].checked == "cpu:oracle");
    CHECK(found[0].devices[1].seconds.size() == 2);
    CHECK(found[0].devices[1].speed->amount == 2 * 33 * 4.0);
}

TEST_CASE("devices are timed in turn", "[side_by_side]") {
    std::string order;  // in which they worked
    const auto noted = [&order](char name) {
        return device_that([&order, name](Backend& inner, const Copy& op) {
            if (order.empty() || order.back() != name) {
                order += name;
            }
            inner.run(op);
        });
    };
    FaultyBackend a = noted('a');
    FaultyBackend b = noted('b');
    time_side_by_side({.repeat = 3}, {family(a_copy)}, {{a}, {b}});
    CHECK(order == "abababab");  // checked and set up, then three turns
}

TEST_CASE("a failure on one device does not stop the others", "[side_by_side]") {
    int calls = 0;
    FaultyBackend broken = device_that([&calls](Backend& inner, const Copy& op) {
        constexpr int kOfTheCheck = 2;
        if (++calls > kOfTheCheck) {
            throw Error("it fell off the bus");
        }
        inner.run(op);
    });
    FaultyBackend right = device_that(copies);
    const auto found = time_side_by_side({.repeat = 1}, {family(a_copy)}, {{broken}, {right}});
    CHECK(found[0].devices[0].error == "it fell off the bus");
    CHECK(found[0].devices[1].speed);
}

TEST_CASE("a device that fails at its turn has no speed", "[side_by_side]") {
    std::string order;
    const auto noted = [&order](char name) {
        return device_that([&order, name](Backend& inner, const Copy& op) {
            constexpr std::size_t kFirstTurn = 4;  // after "ab" of the check
            if (name == 'b' && order.size() >= kFirstTurn) {
                throw Error("it fell off the bus");
            }
            if (order.empty() || order.back() != name) {
                order += name;
            }
            inner.run(op);
        });
    };
    FaultyBackend a = noted('a');
    FaultyBackend b = noted('b');
    const auto found = time_side_by_side({.repeat = 3}, {family(a_copy)}, {{a}, {b}});
    CHECK(found[0].devices[0].seconds.size() == 3);
    CHECK(found[0].devices[1].error == "it fell off the bus");
    CHECK_FALSE(found[0].devices[1].speed);
}

TEST_CASE("what would take too long is skipped, unless it is required", "[side_by_side]") {
    FaultyBackend device = device_that(copies);
    const auto found = time_side_by_side({.repeat = 1}, {family(a_copy_and_years_of_copies)}, {{device}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].shape == "33");
    const auto all = time_side_by_side({.repeat = 1, .most_seconds = std::numeric_limits<double>::infinity()},
                                       {family(a_copy_and_years_of_copies)}, {{device}});
    CHECK(all.size() == 2);
}

TEST_CASE("an op without timings is an error that lists those with some", "[side_by_side]") {
    CHECK_THROWS_WITH(time_side_by_side({.ops = {"cpoy"}}, {family(a_copy)}, {}),
                      Contains("\"cpoy\"") && Contains("elementwise, copy"));
}

TEST_CASE("outputs that are obviously wrong are found", "[side_by_side]") {
    const Case stated = copying("33");
    const HostValues values = generate(stated);
    FaultyBackend right = device_that(copies);
    CHECK(TimedCase(right, stated, values).invalid_reason().empty());
    FaultyBackend zero = device_that([](Backend& inner, const Copy& op) { fills(inner, op, 0.0F); });
    CHECK_THAT(TimedCase(zero, stated, values).invalid_reason(), Contains("out holds nothing but 0"));
    FaultyBackend nan = device_that([](Backend& inner, const Copy& op) { fills(inner, op, std::nanf("")); });
    CHECK_THAT(TimedCase(nan, stated, values).invalid_reason(), Contains("out has a number that is not finite"));
}

TEST_CASE("every family's timed cases are right, and have unique names", "[side_by_side]") {
    const Workload tiny{.sentences = 2,
                        .length = 3,
                        .d_model = 8,
                        .d_ff = 16,
                        .heads = 2,
                        .vocabulary = 50,
                        .parameters = 33,
                        .sides = {5},
                        .every_product = true};
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const auto found = time_side_by_side({.work = tiny, .repeat = 1}, catalogue(), {{*cpu}});
    for (const OpSpeeds& each : found) {
        INFO(each.op << " " << each.shape << ": " << each.devices[0].error << each.devices[0].reason);
        CHECK(each.devices[0].speed);
        CHECK(each.devices[0].checked == "cpu:oracle");
    }
    const auto append =
        std::find_if(found.begin(), found.end(), [](const OpSpeeds& each) { return each.op == "cache_append"; });
    REQUIRE(append != found.end());
    CHECK(append->devices[0].speed->amount == Approx(2 * 8 * 2 * 4 * 4.0 + 4.0));  // one position of the cache
    CHECK(ops_of(found) == std::set<std::string>(kOpNames.begin(), kOpNames.end()));
    std::size_t stated = 0;
    for (const Family& each : catalogue()) {
        stated += each.speeds == nullptr ? 0 : each.speeds(tiny).size();
    }
    CHECK(found.size() == stated);
}

TEST_CASE("narrow weights are timed where there are weights, next to full ones", "[side_by_side]") {
    const Workload tiny{.sentences = 1,
                        .length = 2,
                        .d_model = 8,
                        .d_ff = 16,
                        .heads = 2,
                        .vocabulary = 50,
                        .sides = {5},
                        .every_product = true};
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto found = time_side_by_side({.ops = {"matmul"}, .work = tiny, .repeat = 1}, catalogue(),
                                         {{*cpu}, {*oracle, {.storage = DType::I8, .weights_alone = true}}});
    const auto at = [&](const std::string& shape) {
        return *std::find_if(found.begin(), found.end(), [&](const OpSpeeds& each) { return each.shape == shape; });
    };
    CHECK(at("5x5x5 nt").devices[0].precision == "f32");
    CHECK(at("5x5x5 nt").devices[1].precision == "i8 weights");
    CHECK(at("5x5x5 nt").devices[1].speed);
    CHECK(at("5x5x5 nn").devices[0].speed);
    CHECK_FALSE(at("5x5x5 nn").devices[1].speed);
    CHECK_THAT(at("5x5x5 nn").devices[1].reason, Contains("no weights"));
}
