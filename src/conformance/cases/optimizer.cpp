// SquareSum, StepControl, Adam.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "backend/convert.h"

#include "backend/ops/optimizer.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::optimizer_cases {

namespace {

Case square_sum(const Shape& shape) {
    const auto build = [](const Operands& t) { return SquareSum{t["x"], t["out"], t.write("out")}; };
    Case stated = make_case(shape.to_string(), {{"x", shape}, {"out", {1}}}, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(shape.elements()));
}

// StepScalars, slot by slot.
Generator scalars(double divisor, double scale, double skip, double loss_scale = 1.0, double good_steps = 0.0,
                  double updates = 2.0) {
    return these({7e-4, divisor, 0.19, 0.0396, scale, skip, 123.0, loss_scale, good_steps, updates});
}

struct Control {
    double total, divisor;
    float max_norm = 0.0F;
    double loss_scale = 1.0;
    double good_steps = 0.0;
    LossScaling scaling = {};
    double updates = 0.0;
    float beta1 = 0.9F;
    float beta2 = 0.98F;

    std::string title() const {
        return fmt::format("of {} by {} clipped at {}, scale {} after {} of {}, {} to {}, betas {} {} after {} updates",
                           total, divisor, max_norm, loss_scale, good_steps, scaling.growth_interval, scaling.least,
                           scaling.most, beta1, beta2, updates);
    }
};

Case step_control(const Control& control) {
    Case stated =
        make_case(control.title(),
                  {{"square_sum", {1}, these({control.total})},
                   {"scalars",
                    {StepScalars::Count},
                    scalars(control.divisor, kNan, kNan, control.loss_scale, control.good_steps, control.updates)}},
                  [=](const Operands& t) {
                      return StepControl{t["square_sum"], t["scalars"],  control.max_norm,
                                         control.scaling, control.beta1, control.beta2};
                  });
    // A skipped step has no scale to compare; its state must equal the oracle's bit for bit.
    stated.accept = [=](const std::string&, std::size_t index, double, const HostValues&) {
        return !std::isfinite(control.total) && index == StepScalars::GradientScale;
    };
    return stated;
}

struct AdamCase {
    std::int64_t count;
    double skip = 0.0;
    double scale = 0.00025;
    float epsilon = 1e-9F;
    std::optional<DType> working = {};
    bool decay = false;

    std::string title() const {
        return fmt::format("{} skip {} scale {} epsilon {}{}{}", count, skip, scale, epsilon,
                           working ? std::string(" and ") + name_of(*working) : "", decay ? " with decay" : "");
    }
};

Case adam(const AdamCase& stated) {
    const Shape shape{stated.count};
    std::vector<Operand> operands{{"parameter", shape},
                                  {"grad", shape},
                                  {"m", shape, normal(0.1)},
                                  {"v", shape, uniform(0.0, 0.1)},
                                  {"scalars", {StepScalars::Count}, scalars(4000.0, stated.scale, stated.skip)}};
    if (stated.working) {
        operands.push_back(Operand("working", shape).typed(*stated.working));
    }
    if (stated.decay) {
        // Large, so that it shows; 0, 0, 0, 40, 40, 0, ...: runs of both kinds.
        operands.push_back({"decay", {Adam::groups(stated.count)}, [](std::int64_t count, Random&) {
                                Values values;
                                for (std::int64_t group = 0; group < count; ++group) {
                                    values.push_back(group % 5 < 3 ? 0.0 : 40.0);
                                }
                                return values;
                            }});
    }
    return make_case(stated.title(), operands, [=](const Operands& t) {
        return Adam{.parameter = t["parameter"],
                    .grad = t["grad"],
                    .m = t["m"],
                    .v = t["v"],
                    .scalars = t["scalars"],
                    .working = t.maybe("working"),
                    .decay = t.maybe("decay"),
                    .epsilon = stated.epsilon};
    });
}

std::vector<Case> square_sum_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3}, Shape{257}, Shape{33, 33}, Shape{2, 3, 5, 7}, Shape{40000},
                               Shape{16384}, Shape{16385}, Shape{1000000}}) {
        cases.push_back(square_sum(shape));
    }
    return cases;
}

std::vector<Case> step_control_cases() {
    std::vector<Case> cases;
    for (const float max_norm : {0.0F, 0.5F, 1.0F}) {
        for (const double total : {0.0, 1e-8, 9.0, 2.5e5, 1e30, kInfinity, kNan}) {
            cases.push_back(step_control({total, 8.0, max_norm}));
            cases.push_back(step_control({total, 8.0, max_norm, 1024.0}));
        }
    }
    return cases;
}

std::vector<Case> loss_scale_cases() {
    std::vector<Case> cases;
    const LossScaling rule{.growth_interval = 3, .least = 4.0F, .most = 64.0F};
    for (const double total : {0.0, 9.0, 1e30, kInfinity, kNan}) {
        for (const double loss_scale : {4.0, 5.0, 16.0, 48.0, 64.0}) {
            for (const double good_steps : {0.0, 1.0, 2.0, 3.0, 77.0}) {
                cases.push_back(step_control({total, 8.0, 1.0F, loss_scale, good_steps, rule}));
            }
        }
    }
    cases.push_back(step_control({kNan, 8.0, 0.0F, 1000.0, 5.0, {.growth_interval = 10, .backoff = 0.3F}}));
    cases.push_back(step_control({1.0, 8.0, 0.0F, 1000.0, 9.0, {.growth_interval = 10, .growth = 1.5F}}));
    cases.push_back(step_control({kNan, 8.0, 0.0F, 1000.0, 5.0}));  // the scale is fixed
    return cases;
}

std::vector<Case> updates_cases(const std::vector<double>& counts, const std::vector<float>& betas) {
    std::vector<Case> cases;
    for (const double updates : counts) {
        for (const float beta : betas) {
            for (const double total : {9.0, kInfinity, kNan}) {  // the last two are no updates
                cases.push_back(
                    step_control({.total = total, .divisor = 8.0, .updates = updates, .beta1 = 0.98F, .beta2 = beta}));
            }
        }
    }
    return cases;
}

std::vector<Case> few_updates_cases() {
    return updates_cases({0.0, 1.0, 6.0, 1000.0, 16777214.0}, {0.0F, 0.9F, 0.999999F});
}

std::vector<Case> many_updates_cases() {
    return updates_cases({2.0, 63.0, 123456.0}, {0.0F, 0.5F, 0.9F, 0.999F, 0.999999F});
}

std::vector<Case> special_values_cases() {
    return {square_sum({20000}).holding(kNan, "x", 17000), square_sum({20000}).holding(kInfinity, "x", 3),
            square_sum({33}).holding(3e30, "x", 3)};
}

std::vector<Case> adam_cases() {
    std::vector<Case> cases;
    for (const std::int64_t count : {0, 1, 3, 33, 257, 1024, 10007}) {
        for (const std::optional<DType> working :
             {std::optional<DType>{}, std::optional{DType::F16}, std::optional{DType::BF16}}) {
            cases.push_back(adam({.count = count, .working = working}));
            cases.push_back(adam({.count = count, .skip = 1.0, .scale = kNan, .working = working}));  // nothing changes
        }
    }
    cases.push_back(adam({.count = 257, .scale = 1.0, .epsilon = 1e-3F}));
    for (const std::int64_t count : {0, 3, 64, 257, 40004}) {
        cases.push_back(adam({.count = count, .decay = true}));
        cases.push_back(adam({.count = count, .working = DType::BF16, .decay = true}));
    }
    cases.push_back(adam({.count = 257, .skip = 1.0, .scale = kNan, .decay = true}));
    return cases;
}

std::vector<Case> speeds(const Workload& work) {
    const std::string name = fmt::format("{}", work.parameters);
    // A few scalars: a GPU's time is that of a launch.
    const Control clipped{.total = 100.0, .divisor = 4000.0, .max_norm = 1.0F};
    return {square_sum({work.parameters}).named(name), adam({.count = work.parameters}).named(name),
            step_control(clipped).named("one step")};
}

}  // namespace

Family family() {
    return {
        .name = "optimizer",
        .groups =
            {
                {"square-sum", "sums of squares", square_sum_cases},
                {"step-control", "the step's control", step_control_cases},
                {"loss-scale", "the loss scale moves by its rules", loss_scale_cases},
                {"updates", "only steps that are not skipped count as updates of Adam's moments", few_updates_cases},
                {.name = "more-updates",
                 .says = "the same after other counts of steps",
                 .cases = many_updates_cases,
                 .is_slow = true},
                {"special-values", "a gradient that is not finite shows in its sum of squares", special_values_cases},
                {"adam", "Adam", adam_cases},
            },
        .speeds = speeds};
}

}  // namespace headscope::conformance::optimizer_cases
