// Adam in numbers.
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/convert.h"
#include "backend/ops/optimizer.h"
#include "conformance/case.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

TEST_CASE("the working copy is the new parameter, rounded", "[optimizer][by_hand]") {
    std::vector<std::string> ids = devices_under_test();
    ids.insert(ids.begin(), "cpu:oracle");
    for (const std::string& id : ids) {
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        for (const DType dtype : {DType::F16, DType::BF16}) {
            if (device->full_dtype() == DType::F32 && device->support(OpId::Adam, dtype).level == SupportLevel::None) {
                continue;
            }
            INFO(id << ", " << name_of(dtype));
            Random random(1);
            const auto make = [&](const Generator& values) {
                return make_from_host(*device, {1000}, device->full_dtype(), values(1000, random));
            };
            const Tensor parameter = make(normal());
            const Tensor working = device->empty({1000}, dtype);
            device->run(Adam{.parameter = parameter,
                             .grad = make(normal()),
                             .m = make(normal(0.1)),
                             .v = make(uniform(0.0, 0.1)),
                             .scalars = make_from_host(*device, {StepScalars::Count}, device->full_dtype(),
                                                       these({7e-4, 4000.0, 0.19, 0.0396, 0.00025, 0.0, 123.0, 1.0, 0.0,
                                                              2.0})(StepScalars::Count, random)),
                             .working = working});
            Values expected = to_host<double>(*device, parameter);
            for (double& value : expected) {
                value = rounded_to(dtype, value);
            }
            CHECK(to_host<double>(*device, working) == expected);
        }
    }
}

TEST_CASE("a skipped step leaves parameter and moments unchanged", "[optimizer][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto tensor = [&](const Values& values) {
        return make_from_host(*oracle, {static_cast<std::int64_t>(values.size())}, oracle->full_dtype(), values);
    };
    const Tensor parameter = tensor({1.0});
    const Tensor m = tensor({2.0});
    const Tensor v = tensor({3.0});
    const Tensor control = tensor({0.1, 1.0, 0.1, 0.02, 1.0, 0.0, 0.0, 1.0, 0.0, 7.0});
    oracle->run(StepControl{tensor({kInfinity}), control, 1.0F});
    const Tensor working = make_from_host<double>(*oracle, {1}, DType::F16, {4.0});
    oracle->run(
        Adam{.parameter = parameter, .grad = tensor({kNan}), .m = m, .v = v, .scalars = control, .working = working});
    CHECK(to_host<double>(*oracle, working) == Values{4.0});
    CHECK(to_host<double>(*oracle, parameter) == Values{1.0});
    CHECK(to_host<double>(*oracle, m) == Values{2.0});
    CHECK(to_host<double>(*oracle, v) == Values{3.0});
    CHECK(to_host<double>(*oracle, control)[StepScalars::Updates] == 7.0);
}

TEST_CASE("the correction of Adam's moments is 1 - beta^updates", "[optimizer][by_hand]") {
    for (const double beta : {0.0, 0.5, 0.9, 0.98, 0.999, 0.999999}) {
        CHECK(bias_correction(beta, 0.0) == 0.0);
        CHECK(bias_correction(beta, 1.0) == 1.0 - beta);
        for (const double updates : {2.0, 3.0, 10.0, 999.0, 1e6, 16777216.0}) {
            INFO(beta << " " << updates);
            CHECK(bias_correction(beta, updates) == Approx(1.0 - std::pow(beta, updates)).epsilon(1e-9));
        }
    }
}

TEST_CASE("Adam's first step is the learning rate against the gradient's sign", "[optimizer][by_hand]") {
    // Kingma & Ba, section 2.1: with m = v = 0 and t = 1 the corrected moments are g and g^2.
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto tensor = [&](const Values& values) {
        return make_from_host(*oracle, {static_cast<std::int64_t>(values.size())}, oracle->full_dtype(), values);
    };
    const Tensor parameter = tensor({1.0, 1.0});
    const Tensor control = tensor({0.25, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0});
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

TEST_CASE("weights decay as in torch.optim.AdamW", "[optimizer][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto tensor = [&](const Values& values) {
        return make_from_host(*oracle, {static_cast<std::int64_t>(values.size())}, oracle->full_dtype(), values);
    };
    const Tensor parameter = tensor({1.0, -2.0, 0.5});
    const Tensor m = tensor({0.0, 0.0, 0.0});
    const Tensor v = tensor({0.0, 0.0, 0.0});
    const std::vector<Values> gradients{{1.0, -0.5, 2.0}, {-3.0, 0.25, 1.0}, {0.5, 4.0, -1.0}};
    for (std::size_t t = 0; t < gradients.size(); ++t) {
        const double first = 1.0 - std::pow(0.5, static_cast<double>(t + 1));
        const double second = 1.0 - std::pow(0.75, static_cast<double>(t + 1));
        oracle->run(Adam{.parameter = parameter,
                         .grad = tensor(gradients[t]),
                         .m = m,
                         .v = v,
                         .scalars = tensor({0.01, 1.0, first, second, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0}),
                         .decay = tensor({0.25}),
                         .beta1 = 0.5F,
                         .beta2 = 0.75F,
                         .epsilon = 0.125F});
    }
    // float64, lr 0.01, betas (0.5, 0.75), eps 0.125, weight_decay 0.25.
    const Values expected{0.99258001758478, -1.98532685736467, 0.4787692789182817};
    const Values found = to_host<double>(*oracle, parameter);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
    }
}
