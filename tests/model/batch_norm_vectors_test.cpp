// Batch norm against PyTorch in float64 (tests/golden/make_batch_norm_vectors.py), against layer norm, and its
// gradients.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "backend/ops/elementwise.h"
#include "io/safetensors.h"
#include "tests/autograd/gradient_check.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

std::vector<double> read_doubles(const SafeTensorsFile& file, const std::string& name) {
    const MappedTensor tensor = file.at(name);
    std::vector<double> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
}

double largest_apart(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

// The largest differences of outputs, gradients and running statistics.
double worst_difference(const std::string& device) {
    const SafeTensorsFile file = SafeTensorsFile::open(checkout_file("tests/golden/batch_norm.safetensors"));
    const auto backend = open_device(device, environment_options());
    const auto variable = [&](const std::string& name) {
        return Var(make_from_host(*backend, file.at(name).shape, backend->full_dtype(), read_doubles(file, name)),
                   true);
    };
    const std::int64_t columns = file.at("gain").shape[0];
    BatchNormOperands operands{.gain = variable("gain"),
                               .bias = variable("bias"),
                               .running_mean = backend->empty({columns}, backend->full_dtype()),
                               .running_variance = backend->empty({columns}, backend->full_dtype()),
                               .lengths = make_from_host(*backend, {3}, DType::I32, std::vector<std::int32_t>{5, 2, 4}),
                               .epsilon = 0x1p-10F};
    backend->run(Fill{.out = operands.running_mean, .value = 0.0F});
    backend->run(Fill{.out = operands.running_variance, .value = 1.0F});
    double worst = 0.0;
    const auto compare = [&](const Tensor& found, const std::string& name) {
        INFO(name);
        const double difference = largest_apart(to_host<double>(*backend, found), read_doubles(file, name));
        CHECK(difference < 1e-5);
        worst = std::max(worst, difference);
    };
    for (int number = 0; number < 3; ++number) {
        operands.measures = number < 2;
        Tape tape;
        Context ctx{*backend, number == 0 ? &tape : nullptr};
        const Var x = variable("x" + std::to_string(number));
        const Var tokens = unfold(ctx, batch_norm(ctx, x, operands), {.positions = 5, .lengths = operands.lengths});
        compare(tokens.value(), "y" + std::to_string(number));
        compare(operands.running_mean, "mean" + std::to_string(number));
        compare(operands.running_variance, "variance" + std::to_string(number));
        if (number == 0) {
            tokens.add_gradient(*backend, variable("weights").value());
            tape.backward(*backend);
            compare(x.gradient(), "grad_x");
            compare(operands.gain.gradient(), "grad_gain");
            compare(operands.bias.gradient(), "grad_bias");
        }
    }
    return worst;
}

}  // namespace

TEST_CASE("batch norm equals PyTorch's over the tokens of padded batches, in training and after it") {
    CHECK(worst_difference("cpu:oracle") < 1e-12);
    for (const std::string& device : conformance::devices_under_test()) {
        INFO(device);
        worst_difference(device);
    }
}

TEST_CASE("batch norm is by feature, layer norm by instance, both with the deviation divided by n") {
    GradientCheck check;
    Backend& backend = check.backend();
    Context ctx{backend};
    const auto tensor = [&](const Shape& shape, const std::vector<double>& values) {
        return make_from_host(backend, shape, backend.full_dtype(), values);
    };
    const auto input = [&] { return Var(tensor({3, 1, 3}, {1, 2, 6, 3, 4, 8, 5, 9, 10})); };  // an instance in each row
    const Var gain(tensor({3}, {1, 1, 1}));
    const Var bias(tensor({3}, {0, 0, 0}));
    constexpr float kNone = 0x1p-60F;
    const auto by_feature = to_host<double>(backend, batch_norm(ctx, input(),
                                                                {.gain = gain,
                                                                 .bias = bias,
                                                                 .running_mean = tensor({3}, {0, 0, 0}),
                                                                 .running_variance = tensor({3}, {1, 1, 1}),
                                                                 .epsilon = kNone})
                                                         .value());
    const auto by_instance = to_host<double>(backend, add_layer_norm(ctx, input(), Var(), gain, bias, kNone).y.value());
    // Features 1, 3, 5 and 2, 4, 9 and 6, 8, 10 have means 3, 5 and 8, and deviations sqrt(8/3) = 1.633, sqrt(26/3) =
    // 2.944 and 1.633; instances 1, 2, 6 and 3, 4, 8 and 5, 9, 10 have 3, 5 and 8, and sqrt(14/3) = 2.160 twice, and
    // the same again.
    const double narrow = std::sqrt(8.0 / 3.0);
    const double wide = std::sqrt(26.0 / 3.0);
    const double row = std::sqrt(14.0 / 3.0);
    const std::vector<double> features{-2 / narrow, -3 / wide,  -2 / narrow, 0,         -1 / wide,
                                       0,           2 / narrow, 4 / wide,    2 / narrow};
    const std::vector<double> instances{-2 / row, -1 / row, 3 / row, -2 / row, -1 / row,
                                        3 / row,  -3 / row, 1 / row, 2 / row};
    CHECK(largest_apart(by_feature, features) < 1e-12);
    CHECK(largest_apart(by_instance, instances) < 1e-12);
}

TEST_CASE("an addition and a batch norm of it agree with central differences") {
    GradientCheck check;
    for (const bool measures : {false, true}) {
        const auto function = [&](Context& ctx, const std::vector<Var>& in) {
            const auto running = [&](double value) {
                return make_from_host(ctx.backend, {5}, ctx.backend.full_dtype(), std::vector<double>(5, value));
            };
            const Tensor lengths = make_from_host(ctx.backend, {2}, DType::I32, std::vector<std::int32_t>{3, 2});
            return batch_norm(ctx, add_spending(ctx, in[0], in[1]),
                              {.gain = in[2],
                               .bias = in[3],
                               .running_mean = running(0.2),
                               .running_variance = running(1.5),
                               .lengths = lengths,
                               .epsilon = 1e-3F,
                               .measures = measures});
        };
        CHECK(check.worst({{2, 3, 5}, {2, 3, 5}, {5}, {5}}, function) < 1e-7);
        CHECK(check.worst({{2, 3, 5}, {2, 3, 5}, {5}, {5}}, function, true) < 1e-7);
    }
}
