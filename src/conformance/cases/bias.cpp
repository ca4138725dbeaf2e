// BiasActivation, its backward, SumRows.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "backend/ops/bias.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::bias_cases {

namespace {

const char* name_of(Activation activation) {
    switch (activation) {
        case Activation::None: return "none";
        case Activation::Relu: return "relu";
        case Activation::Gelu: return "gelu";
        case Activation::Swish: return "swish";
        case Activation::GeluTanh: return "gelu_tanh";
        case Activation::GeluSigmoid: return "gelu_sigmoid";
        case Activation::Sigmoid: return "sigmoid";
    }
    return "?";
}

constexpr std::array kActivations{Activation::None,     Activation::Relu,        Activation::Gelu,   Activation::Swish,
                                  Activation::GeluTanh, Activation::GeluSigmoid, Activation::Sigmoid};

struct Layer {
    Shape shape;
    Activation activation;
    bool bias;
    float rate;

    std::string title() const {
        return fmt::format("{} {}{} {}", shape.to_string(), name_of(activation), bias ? " bias" : "", rate);
    }
};

Case forward(const Layer& layer) {
    std::vector<Operand> operands{{"x", layer.shape, grid(true)}, {"y", layer.shape}};
    if (layer.bias) {
        operands.push_back({"bias", {layer.shape[-1]}, grid(false)});
    }
    return make_case(layer.title(), with_dropout(operands, layer.shape[0], layer.rate), [=](const Operands& t) {
        return BiasActivation{.x = t["x"],
                              .bias = t.maybe("bias"),
                              .y = t["y"],
                              .activation = layer.activation,
                              .dropout = rule(t, layer.rate)};
    });
}

// `x` names the operand used as x: for Relu that may be y, without a bias. `sums` names the column sums of grad_x.
Case backward(const Layer& layer, const char* x, const char* sums = nullptr) {
    std::vector<Operand> operands{{x, layer.shape, grid(true)}, {"grad_y", layer.shape}, {"grad_x", layer.shape}};
    if (layer.bias) {
        operands.push_back({"bias", {layer.shape[-1]}, grid(false)});
    }
    if (sums != nullptr) {
        operands.push_back(Operand{sums, {layer.shape[-1]}}.sum_of_rounded());
    }
    const auto build = [=](const Operands& t) {
        return BiasActivationBackward{.x = t[x],
                                      .bias = t.maybe("bias"),
                                      .grad_y = t["grad_y"],
                                      .grad_x = t["grad_x"],
                                      .activation = layer.activation,
                                      .dropout = rule(t, layer.rate),
                                      .write = t.write("grad_x"),
                                      .sums = sums == nullptr ? Tensor() : t[sums],
                                      .write_sums = sums == nullptr ? Write::Overwrite : t.write(sums)};
    };
    Case stated = make_case(layer.title() + " of " + x + (sums == nullptr ? "" : " with sums"),
                            with_dropout(operands, layer.shape[0], layer.rate), build);
    if (sums != nullptr) {
        stated.magnitude = runs(build);
        stated = stated.sums(static_cast<double>(layer.shape[0] * layer.shape[1]));
    }
    // The slopes of GELU's approximations are 0 at x = -0.75, where two terms of a quarter cancel; so does 1 - s in the
    // sigmoid's, s (1 - s), where s is near 1.
    const bool cancels = layer.activation == Activation::GeluTanh || layer.activation == Activation::GeluSigmoid ||
                         layer.activation == Activation::Sigmoid;
    return cancels ? stated.cancels(0.25) : stated;
}

// Where exponentials overflow or underflow.
Case far_out(Case stated) {
    stated.name += " far out";
    stated.operands[0].values = these({-1000, -104, -100, -95, -89, -88.5, -87, -40, 40, 87, 88.5, 89, 100, 1000});
    return stated;
}

// Inputs whose squares and cubes overflow.
Case largest(Case stated) {
    stated.name += " of the largest numbers";
    stated.operands[0].values = these({-6e4, 6e4, -1e30, 1e30, -3e38, 3e38, 0x1p-140, 0.0});
    return stated;
}

Case sum_rows(std::int64_t rows, std::int64_t columns, const char* x = "x", const char* to = "out",
              Shape seen_as = {}) {
    const Shape shape = seen_as.rank() == 0 ? Shape{rows, columns} : seen_as;
    const auto build = [=](const Operands& t) { return SumRows{t[x].reshape({rows, columns}), t[to], t.write(to)}; };
    Case stated = make_case(fmt::format("[{}, {}]", rows, columns), {{x, shape}, {to, {columns}}}, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(rows));
}

std::vector<Shape> shapes() {
    return {{1, 1, 1}, {2, 3, 33}, {3, 33, 1}, {1, 5, 257}, {2, 0, 5}, {0, 3, 4}, {2, 3, 0}, {5, 7, 64}};
}

std::vector<Case> activations_cases() {
    std::vector<Case> cases;
    for (const Activation activation : kActivations) {
        for (const Shape& shape : shapes()) {
            for (const bool bias : {false, true}) {
                cases.push_back(forward({shape, activation, bias, 0.0F}));
            }
            cases.push_back(forward({shape, activation, true, 0.3F}));
        }
        Case wide = forward({{2, 3, 257}, activation, true, 0.1F});
        wide.name += " wide";
        wide.operands[0].values = normal(6.0);  // far into the tails
        cases.push_back(wide);
        cases.push_back(far_out(forward({{2, 3, 33}, activation, false, 0.0F})));
    }
    cases.push_back(largest(forward({{2, 3, 33}, Activation::GeluTanh, false, 0.0F})));
    cases.push_back(largest(forward({{2, 3, 33}, Activation::GeluSigmoid, false, 0.0F})));
    cases.push_back(forward({{2, 40000, 3}, Activation::Relu, true, 0.1F}).past_a_grid());
    return cases;
}

std::vector<Case> activations_back_cases() {
    std::vector<Case> cases;
    for (const Activation activation : kActivations) {
        for (const Shape& shape : shapes()) {
            for (const bool bias : {false, true}) {
                cases.push_back(backward({shape, activation, bias, 0.0F}, "x"));
            }
            cases.push_back(backward({shape, activation, true, 0.3F}, "x"));
        }
        Case wide = backward({{2, 3, 257}, activation, true, 0.1F}, "x");
        wide.name += " wide";
        wide.operands[0].values = normal(6.0);
        cases.push_back(wide);
        cases.push_back(far_out(backward({{2, 3, 33}, activation, false, 0.0F}, "x")));
    }
    cases.push_back(largest(backward({{2, 3, 33}, Activation::GeluTanh, false, 0.0F}, "x")));
    cases.push_back(largest(backward({{2, 3, 33}, Activation::GeluSigmoid, false, 0.0F}, "x")));
    cases.push_back(backward({{2, 3, 33}, Activation::Relu, false, 0.1F}, "y"));
    return cases;
}

std::vector<Case> activations_sums_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(backward({shape, Activation::Relu, false, 0.3F}, "y", "sums"));
        cases.push_back(backward({shape, Activation::Gelu, true, 0.0F}, "x", "sums"));
    }
    cases.push_back(backward({{3, 71, 40}, Activation::Swish, true, 0.1F}, "x", "sums"));
    cases.push_back(backward({{2, 40, 2048}, Activation::Relu, false, 0.1F}, "y", "sums"));
    cases.push_back(backward({{2, 37, 33}, Activation::None, false, 0.5F}, "x", "sums").holding(kNan, "grad_y", 40));
    return cases;
}

std::vector<Case> models_cases() {
    std::vector<Case> cases;
    for (const float rate : {0.0F, 0.1F}) {
        for (const bool bias : {false, true}) {
            const Layer layer{{1, 2, 1024}, Activation::Relu, bias, rate};
            cases.push_back(forward(layer));
            cases.push_back(backward(layer, "x"));
        }
        cases.push_back(backward({{1, 2, 1024}, Activation::Relu, false, rate}, "y"));
    }
    return cases;
}

std::vector<Case> column_sums_cases() {
    std::vector<Case> cases;
    for (const std::int64_t rows : {0, 1, 3, 33, 257, 1000}) {
        for (const std::int64_t columns : {0, 1, 3, 33, 257}) {
            cases.push_back(sum_rows(rows, columns));
        }
    }
    cases.push_back(sum_rows(20000, 1));
    cases.push_back(sum_rows(5000, 64));
    return cases;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (const Activation activation : kActivations) {
            const Layer layer{{2, 3, 33}, activation, true, 0.5F};
            for (const std::size_t index : {40U, 41U, 42U, 43U}) {  // kept and dropped ones
                cases.push_back(forward(layer).holding(value, "x", index));
                cases.push_back(backward(layer, "x").holding(value, "grad_y", index));
            }
        }
        cases.push_back(sum_rows(257, 33).holding(value, "x", 100));
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    const Shape shape{2, 3, 11};
    for (const Activation activation : kActivations) {
        for (const float rate : {0.0F, 0.3F}) {
            const Layer layer{shape, activation, true, rate};
            all.push_back({forward(layer), {backward(layer, "x"), sum_rows(6, 11, "grad_x", "grad_bias", shape)}});
            all.push_back({forward(layer), {backward(layer, "x", "grad_bias")}});
            const Layer plain{shape, activation, false, rate};
            all.push_back({forward(plain), {backward(plain, "x")}});
        }
    }
    // The forward's y as x: only its sign matters, and dropped elements have no gradient.
    for (const float rate : {0.0F, 0.3F}) {
        const Layer with{shape, Activation::Relu, true, rate};
        const Layer without{shape, Activation::Relu, false, rate};
        all.push_back({forward(with), {backward(without, "y"), sum_rows(6, 11, "grad_x", "grad_bias", shape)}});
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Layer layer{{work.sentences, work.length, work.d_ff}, Activation::Relu, true, 0.1F};
    const std::string name = fmt::format("{}x{} relu, dropout", work.rows(), work.d_ff);
    return {forward(layer).named(name), backward(layer, "x").named(name),
            backward(layer, "x", "sums").named(name + ", sums"),
            sum_rows(work.rows(), work.d_ff).named(fmt::format("{}x{}", work.rows(), work.d_ff))};
}

}  // namespace

Family family() {
    return {.name = "bias",
            .groups =
                {
                    {"activations", "bias with activation", activations_cases},
                    {"activations-back", "the backward of an activation", activations_back_cases},
                    {"activations-sums", "the backward of an activation with its column sums", activations_sums_cases},
                    {"models", "the feed-forward layers of the paper's models", models_cases},
                    {"column-sums", "column sums", column_sums_cases},
                    {"special-values", "NaN and infinity spread through activations", special_values_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::bias_cases
