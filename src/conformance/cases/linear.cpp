// Linear: a product with bias and activation.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backend/ops/bias.h"
#include "backend/ops/matmul.h"
#include "conformance/cases/catalogue.h"
#include "conformance/cases/product.h"

namespace headscope::conformance::linear_cases {

namespace {

struct Layer {
    std::int64_t rows, in, out;
    Activation activation = Activation::None;
    bool bias = true;
    Compute compute = Compute::F32;
    DType weights = DType::F32;  // what the weight is stored in
    bool rounded = false;        // with the bias rounded to y's type

    Shape x() const { return {rows, in}; }
    Shape weight() const { return {out, in}; }
    Shape y() const { return {rows, out}; }
    std::string title() const {
        constexpr const char* kNames[] = {"", " relu", " gelu", " swish", " gelu_tanh", " gelu_sigmoid", " sigmoid"};
        return fmt::format("{} in {}{}{}{}", y().to_string(), in, bias ? " bias" : "",
                           kNames[static_cast<int>(activation)],
                           compute == Compute::F32 ? "" : fmt::format(" in {}", name_of(compute))) +
               (weights == DType::F32 ? "" : fmt::format(" weights {}", name_of(weights))) +
               (rounded ? " rounded" : "");
    }
};

// Multiples of `step`, shifted by `shift`.
Generator steps(double step, double shift = 0.0) {
    return [=](std::int64_t count, Random& random) {
        Values values = integers(-6, 7)(count, random);
        for (double& value : values) {
            value = value * step + shift;
        }
        return values;
    };
}

// The input of ReLU is exact in every storage and, with a bias, never 0: which side of 0 it is on is certain.
std::vector<Operand> operands_of(const Layer& layer) {
    const bool relu = layer.activation == Activation::Relu;
    std::vector<Operand> operands{
        {"x", layer.x(), relu ? steps(0.5) : normal()},
        {"weight", layer.weight(), relu ? steps(0.25) : normal()},
        {"y", layer.y()},
    };
    if (layer.weights != DType::F32) {
        operands[1] = operands[1].narrow(layer.weights);
    }
    if (layer.weights == DType::I8) {
        operands[1] = operands[1].filled(integers(-127, 128));
        operands.push_back({"weight_scales", {layer.out}, uniform(0.001, 0.01)});
    }
    if (layer.rounded) {  // the same numbers in every type
        for (const char* name : {"bias", "rounded_bias"}) {
            operands.push_back({name, {layer.out}, these({0.0625, -0.1875, 0.3125, -0.6875, 1.0625})});
        }
    } else if (layer.bias) {
        operands.push_back({"bias", {layer.out}, relu ? steps(0.125, 0.0625) : normal()});
    }
    return operands;
}

Linear op_of(const Operands& t, const Layer& layer) {
    return {.x = t["x"],
            .weight = t["weight"],
            .bias = t.maybe("bias"),
            .y = t["y"],
            .activation = layer.activation,
            .compute = layer.compute,
            .weight_scales = t.maybe("weight_scales"),
            .rounded_bias = t.maybe("rounded_bias")};
}

double before_activation(const Layer& layer, std::size_t index, const HostValues& values) {
    const auto in = static_cast<std::size_t>(layer.in);
    const std::size_t row = index / static_cast<std::size_t>(layer.out);
    const std::size_t column = index % static_cast<std::size_t>(layer.out);
    double sum = layer.bias ? values.at("bias")[column] : 0.0;
    for (std::size_t i = 0; i < in; ++i) {
        sum += values.at("x")[row * in + i] * values.at("weight")[column * in + i];
    }
    return sum;
}

Case linear(const Layer& layer) {
    const auto build = [layer](const Operands& t) { return op_of(t, layer); };
    Case stated = make_case(layer.title(), operands_of(layer), build);
    if (works_in_place(layer.activation)) {
        stated.magnitude = runs(build);
    }
    if (layer.activation == Activation::Relu) {  // a NaN may become 0
        stated.accept = [layer](const std::string&, std::size_t index, double got, const HostValues& values) {
            return got == 0.0 && std::isnan(before_activation(layer, index, values));
        };
    }
    if (layer.compute != Compute::F32) {
        stated.compute = layer.compute;
    }
    if (layer.compute == Compute::TF32) {
        stated.operand_roundoff = 0x1p-10;  // where the oracle rounds to nearest, a device may truncate
    }
    return stated.sums(static_cast<double>(layer.in));
}

std::vector<Layer> layer_shapes() {
    return {{1, 1, 1}, {1, 33, 3},   {3, 257, 33},  {257, 3, 33}, {33, 1, 257}, {33, 64, 1},
            {2, 2, 2}, {64, 32, 48}, {65, 130, 72}, {1, 64, 40},  {3, 132, 37}};
}

// The backward from y, of which ReLU's needs only the sign.
Differentiation differentiation(const Layer& layer) {
    const auto sentence = [layer](const Tensor& tensor) { return tensor.reshape({1, layer.rows, layer.out}); };
    const Case activation = make_case(
        "grad_product", {{"y", layer.y()}, {"grad_y", layer.y()}, {"grad_product", layer.y()}}, [=](const Operands& t) {
            return BiasActivationBackward{.x = sentence(t["y"]),
                                          .grad_y = sentence(t["grad_y"]),
                                          .grad_x = sentence(t["grad_product"]),
                                          .activation = layer.activation,
                                          .write = t.write("grad_product")};
        });
    Differentiation stated{
        linear(layer),
        {activation, matmul({{}, layer.rows, layer.in, layer.out}, {"grad_product", "weight", "grad_x"}),
         matmul({{}, layer.out, layer.in, layer.rows, true}, {"grad_product", "x", "grad_weight"})}};
    if (layer.bias) {
        stated.backward.push_back(
            make_case("grad_bias", {{"grad_product", layer.y()}, {"grad_bias", {layer.out}}}, [](const Operands& t) {
                return SumRows{t["grad_product"], t["grad_bias"], t.write("grad_bias")};
            }));
    }
    return stated;
}

std::vector<Case> narrow_weights_cases() {
    std::vector<Case> cases;
    for (const DType weights : {DType::F16, DType::BF16, DType::I8}) {
        for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu}) {
            for (Layer layer : {Layer{1, 33, 3}, Layer{5, 64, 40}}) {
                layer.activation = activation;
                layer.weights = weights;
                cases.push_back(linear(layer));
            }
        }
    }
    return cases;
}

std::vector<Case> activations_cases() {
    std::vector<Case> cases;
    for (Layer layer : layer_shapes()) {
        for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu, Activation::Swish,
                                            Activation::GeluTanh, Activation::GeluSigmoid, Activation::Sigmoid}) {
            for (const bool bias : {false, true}) {
                layer.activation = activation;
                layer.bias = bias;
                cases.push_back(linear(layer));
            }
        }
    }
    return cases;
}

std::vector<Case> decoding_cases() {
    std::vector<Case> cases;
    for (const std::int64_t rows : {1, 2, 4}) {
        for (const Activation activation : {Activation::None, Activation::Relu}) {
            cases.push_back(linear({rows, 512, 12, activation}));
        }
        cases.push_back(linear({rows, 512, 12, Activation::None, false}));
    }
    for (const std::int64_t rows : {7, 16, 17}) {
        cases.push_back(linear({rows, 272, 21, Activation::Relu}));
    }
    return cases;
}

std::vector<Case> rounded_bias_cases() {
    std::vector<Case> cases;
    for (Layer layer : {Layer{1, 33, 3}, Layer{65, 64, 72}}) {
        for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu}) {
            layer.activation = activation;
            layer.rounded = true;
            cases.push_back(linear(layer));
        }
    }
    return cases;
}

// Like matmul's of this name.
std::vector<Case> long_sums_cases() {
    std::vector<Case> cases;
    for (const Compute compute : {Compute::F16, Compute::BF16}) {
        for (Layer layer : {Layer{1, 8648, 8}, Layer{1, 11528, 8}, Layer{1, 57608, 8}, Layer{64, 8648, 64}}) {
            layer.bias = false;
            layer.compute = compute;
            Case stated = linear(layer);
            stated.name += " of ones";
            stated.operands[0].values = stated.operands[1].values = these({1.0});
            stated.one_layout = true;
            cases.push_back(stated);
        }
    }
    return cases;
}

std::vector<Case> empty_cases() {
    std::vector<Case> cases;
    for (const Layer& layer : {Layer{0, 3, 5}, {3, 5, 0}, {3, 0, 5}, {0, 0, 0}}) {
        for (const Activation activation : {Activation::None, Activation::Relu, Activation::Swish}) {
            for (const bool bias : {false, true}) {
                cases.push_back(linear({layer.rows, layer.in, layer.out, activation, bias}));
            }
        }
    }
    return cases;
}

std::vector<Case> rounded_operands_cases() {
    std::vector<Case> cases;
    for (const Compute compute : {Compute::TF32, Compute::BF16, Compute::F16}) {
        for (const Activation activation : {Activation::None, Activation::Relu}) {
            for (const bool bias : {false, true}) {
                cases.push_back(linear({33, 65, 17, activation, bias, compute}));
                cases.push_back(linear({1, 64, 128, activation, bias, compute}));
            }
        }
    }
    return cases;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
        for (const Activation activation : {Activation::None, Activation::Relu}) {
            const Case layer = linear({5, 33, 7, activation});
            cases.push_back(layer.holding(value, "x", 40));
            cases.push_back(layer.holding(value, "weight", 40));
            cases.push_back(layer.holding(value, "bias", 3));
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Activation activation : {Activation::None, Activation::Relu}) {
        for (const bool bias : {false, true}) {
            if (bias || activation == Activation::None) {  // without a bias ReLU may be at its kink
                all.push_back(differentiation({6, 5, 4, activation, bias}));
            }
        }
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    std::vector<Case> cases;
    // A batch, greedy decoding, and decoding with a beam.
    for (const std::int64_t rows :
         work.every_product ? std::vector<std::int64_t>{work.rows(), 1, 4} : std::vector{work.rows()}) {
        const Layer layer{.rows = rows,
                          .in = work.d_model,
                          .out = work.d_ff,
                          .activation = Activation::Relu,
                          .compute = work.compute,
                          .weights = work.weights};
        Case stated = linear(layer).named(fmt::format("{}x{}x{} relu", rows, work.d_ff, work.d_model));
        stated.arithmetic =
            2.0 * static_cast<double>(rows) * static_cast<double>(work.d_model) * static_cast<double>(work.d_ff);
        cases.push_back(stated);
    }
    return cases;
}

}  // namespace

Family family() {
    return {
        .name = "linear",
        .groups =
            {
                {"narrow-weights", "a product of weights in F16 or I8 with bias and activation", narrow_weights_cases},
                {"activations", "a product with bias and activation", activations_cases},
                {"decoding", "few rows by a weight with bias and activation", decoding_cases},
                {"rounded-bias", "a linear layer whose bias is there in y's type, too", rounded_bias_cases},
                {"long-sums", "a linear layer of ones in long sums that 64 does not divide", long_sums_cases},
                {"empty", "a linear layer of nothing", empty_cases},
                {"rounded-operands", "a linear layer of rounded operands", rounded_operands_cases},
                {"special-values", "NaN and infinity spread through a linear layer", special_values_cases},
            },
        .differentiations = differentiations,
        .speeds = speeds};
}

}  // namespace headscope::conformance::linear_cases
