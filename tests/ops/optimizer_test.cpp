// SquareSum, StepControl, Adam.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "harness.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Case square_sum(const Shape& shape) {
    const auto build = [](const Operands& t) { return SquareSum{t["x"], t["out"], t.write("out")}; };
    Case stated = make_case(shape.to_string(), {in("x", shape), gradient("out", {1})}, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(shape.elements()));
}

// LearningRate, Correction1, Correction2, GradientDivisor, GradientScale, Skip, GradientNorm
Generator scalars(double divisor, double scale, double skip) {
    return these({7e-4, 0.19, 0.0396, divisor, scale, skip, 123.0});
}

Case step_control(double total, double divisor, float max_norm) {
    Case stated = make_case(fmt::format("of {} by {} clipped at {}", total, divisor, max_norm),
                            {in("square_sum", {1}).filled(these({total})),
                             in_out("scalars", {StepScalars::Count}).filled(scalars(divisor, kNan, kNan))},
                            [=](const Operands& t) {
                                return StepControl{t["square_sum"], t["scalars"], max_norm};
                            });
    // A step that is skipped has no scale worth comparing.
    stated.accept = [=](const std::string&, std::size_t index, double, const HostValues&) {
        return !std::isfinite(total) && index == StepScalars::GradientScale;
    };
    return stated;
}

Case adam(std::int64_t count, double skip, double scale, float epsilon = 1e-9F) {
    return make_case(fmt::format("{} skip {} scale {} epsilon {}", count, skip, scale, epsilon),
                     {in_out("parameter", {count}), in("grad", {count}), in_out("m", {count}).filled(normal(0.1)),
                      in_out("v", {count}).filled(uniform(0.0, 0.1)),
                      in("scalars", {StepScalars::Count}).filled(scalars(4000.0, scale, skip))},
                     [=](const Operands& t) {
                         return Adam{.parameter = t["parameter"],
                                     .grad = t["grad"],
                                     .m = t["m"],
                                     .v = t["v"],
                                     .scalars = t["scalars"],
                                     .epsilon = epsilon};
                     });
}

}  // namespace

TEST_CASE("sums of squares agree with the oracle", "[optimizer]") {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3}, Shape{257}, Shape{33, 33}, Shape{2, 3, 5, 7}, Shape{40000},
                               Shape{16384}, Shape{16385}, Shape{1000000}}) {
        cases.push_back(square_sum(shape));
    }
    check_on_every_device(cases);
}

TEST_CASE("the step's control agrees with the oracle", "[optimizer]") {
    std::vector<Case> cases;
    for (const float max_norm : {0.0F, 0.5F, 1.0F}) {
        for (const double total : {0.0, 1e-8, 9.0, 2.5e5, 1e30, kInfinity, kNan}) {
            cases.push_back(step_control(total, 8.0, max_norm));
        }
    }
    check_on_every_device(cases);
}

TEST_CASE("a gradient that is not finite shows in its sum of squares", "[optimizer]") {
    check_on_every_device({square_sum({20000}).holding(kNan, "x", 17000),
                           square_sum({20000}).holding(kInfinity, "x", 3), square_sum({33}).holding(3e30, "x", 3)});
}

TEST_CASE("Adam agrees with the oracle", "[optimizer]") {
    std::vector<Case> cases;
    for (const std::int64_t count : {0, 1, 3, 33, 257, 10007}) {
        cases.push_back(adam(count, 0.0, 0.00025));
        cases.push_back(adam(count, 1.0, kNan));  // nothing changes
    }
    cases.push_back(adam(257, 0.0, 1.0, 1e-3F));
    check_on_every_device(cases);
}

TEST_CASE("a skipped step leaves parameter and moments as they were", "[optimizer][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto tensor = [&](const Values& values) {
        return make_from_host(*oracle, {static_cast<std::int64_t>(values.size())}, oracle->real(), values);
    };
    const Tensor parameter = tensor({1.0});
    const Tensor m = tensor({2.0});
    const Tensor v = tensor({3.0});
    const Tensor control = tensor({0.1, 0.1, 0.02, 1.0, 1.0, 0.0, 0.0});
    oracle->run(StepControl{tensor({kInfinity}), control, 1.0F});
    oracle->run(Adam{.parameter = parameter, .grad = tensor({kNan}), .m = m, .v = v, .scalars = control});
    CHECK(to_host<double>(*oracle, parameter) == Values{1.0});
    CHECK(to_host<double>(*oracle, m) == Values{2.0});
    CHECK(to_host<double>(*oracle, v) == Values{3.0});
}

TEST_CASE("Adam's first step is the learning rate against the gradient's sign", "[optimizer][by_hand]") {
    // Kingma & Ba, section 2.1: with m = v = 0 and t = 1 the corrected moments are g and g^2.
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto tensor = [&](const Values& values) {
        return make_from_host(*oracle, {static_cast<std::int64_t>(values.size())}, oracle->real(), values);
    };
    const Tensor parameter = tensor({1.0, 1.0});
    const Tensor control = tensor({0.25, 1.0 - 0.9F, 1.0 - 0.98F, 8.0, 0.0, 0.0, 0.0});
    const Tensor grad = tensor({3.0, -40.0});
    const Tensor total = tensor({0.0});
    oracle->run(SquareSum{grad, total});
    oracle->run(StepControl{total, control, 0.0F});
    oracle->run(Adam{
        .parameter = parameter, .grad = grad, .m = tensor({0.0, 0.0}), .v = tensor({0.0, 0.0}), .scalars = control});
    const Values moved = to_host<double>(*oracle, parameter);
    CHECK(moved[0] == Approx(0.75).epsilon(1e-6));
    CHECK(moved[1] == Approx(1.25).epsilon(1e-6));
    CHECK(to_host<double>(*oracle, control)[StepScalars::GradientNorm] == Approx(std::sqrt(1609.0) / 8));
}
