// AddLayerNorm and its backward.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backend/ops/layer_norm.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::layer_norm_cases {

namespace {

struct Norm {
    Shape shape;
    bool residual = true;
    float rate = 0.0F;
    float epsilon = 1e-6F;
    bool grad_y = true;     // the gradient of y
    bool grad_sum = false;  // the gradient of sum
    bool grad_residual = true;
    bool mean = true;  // else RMS norm
    bool bias = true;
    bool x_sums = false;  // the column sums of grad_x

    std::string title() const {
        return fmt::format("{}{}{}{}{}{}{}{} rate {} epsilon {}", shape.to_string(), mean ? "" : " rms",
                           bias ? "" : " no bias", residual ? " residual" : "", grad_y ? " grad_y" : "",
                           grad_sum ? " grad_sum" : "", grad_residual ? " grad_residual" : "", x_sums ? " sums" : "",
                           rate, epsilon);
    }
    Norm rms() const {
        Norm norm = *this;
        norm.mean = norm.bias = false;
        return norm;
    }
    Shape columns() const { return {shape[2]}; }
    Shape rows() const { return {shape[0], shape[1]}; }
};

Case forward(const Norm& norm) {
    std::vector<Operand> operands{
        {"x", norm.shape}, {"gain", norm.columns()}, {"sum", norm.shape}, {"y", norm.shape}, {"rstd", norm.rows()}};
    if (norm.bias) {
        operands.push_back({"bias", norm.columns()});
    }
    if (norm.mean) {
        operands.push_back({"mean", norm.rows()});
    }
    if (norm.residual) {
        operands.push_back({"residual", norm.shape});
    }
    return make_case(norm.title(), with_dropout(operands, norm.shape[0], norm.rate),
                     [=](const Operands& t) {
                         return AddLayerNorm{.x = t["x"],
                                             .residual = t.maybe("residual"),
                                             .gain = t["gain"],
                                             .bias = t.maybe("bias"),
                                             .sum = t["sum"],
                                             .y = t["y"],
                                             .mean = t.maybe("mean"),
                                             .rstd = t["rstd"],
                                             .epsilon = norm.epsilon,
                                             .dropout = rule(t, norm.rate)};
                     })
        .sums(static_cast<double>(norm.shape[2]));
}

Case backward(const Norm& norm) {
    std::vector<Operand> operands{{"sum", norm.shape},
                                  {"gain", norm.columns()},
                                  {"rstd", norm.rows(), uniform(0.5, 2.0)},
                                  {"grad_x", norm.shape},
                                  {"grad_gain", norm.columns()}};
    if (norm.mean) {
        operands.push_back({"mean", norm.rows(), normal(0.3)});
    }
    if (norm.bias) {
        operands.push_back({"grad_bias", norm.columns()});
    }
    if (norm.grad_y) {
        operands.push_back({"grad_y", norm.shape});
    }
    if (norm.grad_sum) {
        operands.push_back({"grad_sum", norm.shape});
    }
    if (norm.grad_residual) {
        operands.push_back({"grad_residual", norm.shape});
    }
    if (norm.x_sums) {
        operands.push_back(Operand{"grad_x_sums", norm.columns()}.sum_of_rounded());
    }
    return make_case(norm.title(), with_dropout(operands, norm.shape[0], norm.rate),
                     [=](const Operands& t) {
                         return AddLayerNormBackward{
                             .sum = t["sum"],
                             .gain = t["gain"],
                             .mean = t.maybe("mean"),
                             .rstd = t["rstd"],
                             .grad_y = t.maybe("grad_y"),
                             .grad_sum_out = t.maybe("grad_sum"),
                             .grad_x = t["grad_x"],
                             .grad_residual = t.maybe("grad_residual"),
                             .grad_gain = t["grad_gain"],
                             .grad_bias = t.maybe("grad_bias"),
                             .grad_x_sums = t.maybe("grad_x_sums"),
                             .write_x = t.write("grad_x"),
                             .write_residual = norm.grad_residual ? t.write("grad_residual") : Write::Overwrite,
                             .write_gain = t.write("grad_gain"),
                             .write_bias = norm.bias ? t.write("grad_bias") : Write::Overwrite,
                             .write_x_sums = norm.x_sums ? t.write("grad_x_sums") : Write::Overwrite,
                             .dropout = rule(t, norm.rate)};
                     })
        .sums(static_cast<double>(norm.shape[2] + norm.shape[0] * norm.shape[1]))
        .cancels(1.0);  // g - average(g) - n average(g n), with g about 1
}

// The norm as it is and as an RMS norm.
void add_both(std::vector<Case>& cases, Case (*make)(const Norm&), const Norm& norm) {
    cases.push_back(make(norm));
    cases.push_back(make(norm.rms()));
}

std::vector<Shape> normalised_shapes() {
    return {{1, 1, 1}, {2, 3, 33}, {3, 33, 1}, {1, 5, 257}, {2, 0, 5},
            {0, 3, 4}, {5, 7, 64}, {1, 2, 3},  {2, 3, 256}, {3, 2, 40}};
}

std::vector<Case> add_norm_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : normalised_shapes()) {
        for (const bool residual : {false, true}) {
            for (const float rate : {0.0F, 0.3F}) {
                add_both(cases, forward, {.shape = shape, .residual = residual, .rate = rate});
            }
        }
    }
    add_both(cases, forward, {.shape = {2, 3, 1024}, .rate = 0.1F, .epsilon = 1e-5F});
    add_both(cases, forward, {.shape = {2, 9, 512}, .epsilon = 0.5F});
    add_both(cases, forward, {.shape = {3, 7, 768}, .rate = 0.3F});
    cases.push_back(forward({.shape = {2, 3, 33}, .bias = false}));
    cases.push_back(forward({.shape = {2, 3, 33}, .mean = false}));
    cases.push_back(forward({.shape = {2, 40000, 3}, .rate = 0.1F, .epsilon = 0.5F}).past_a_grid());
    return cases;
}

std::vector<Case> far_from_zero_cases() {
    // The mean of squares minus the square of the mean would lose every digit here.
    std::vector<Case> cases;
    add_both(cases, forward, {.shape = {2, 3, 64}, .residual = false});
    for (Case& far : cases) {
        far.name += " far";
        far.operands[0].values = uniform(4000.0, 4001.0);
    }
    return cases;
}

std::vector<Case> add_norm_back_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : normalised_shapes()) {
        for (const float rate : {0.0F, 0.3F}) {
            add_both(cases, backward, {.shape = shape, .rate = rate});
            add_both(cases, backward, {.shape = shape, .rate = rate, .grad_sum = true});
            add_both(cases, backward, {.shape = shape, .rate = rate, .grad_sum = true, .grad_residual = false});
        }
        add_both(cases, backward, {.shape = shape, .grad_y = false, .grad_sum = true});
    }
    add_both(cases, backward, {.shape = {4, 100, 33}, .rate = 0.1F});  // enough rows for sums in two levels
    add_both(cases, backward, {.shape = {2, 3, 1024}, .grad_sum = true});
    add_both(cases, backward, {.shape = {3, 50, 512}, .rate = 0.1F});
    add_both(cases, backward, {.shape = {2, 9, 768}});
    cases.push_back(backward({.shape = {2, 3, 33}, .bias = false}));
    cases.push_back(backward({.shape = {2, 3, 33}, .mean = false}));
    return cases;
}

std::vector<Case> add_norm_sums_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : normalised_shapes()) {
        add_both(cases, backward, {.shape = shape, .rate = 0.3F, .x_sums = true});
    }
    cases.push_back(backward({.shape = {2, 3, 33}, .grad_y = false, .grad_sum = true, .x_sums = true}));
    cases.push_back(backward({.shape = {2, 50, 33}, .bias = false, .x_sums = true}));
    for (const std::int64_t columns : {512, 768, 1024}) {
        add_both(cases, backward,
                 {.shape = {2, 19, columns}, .rate = 0.1F, .grad_sum = columns == 512, .x_sums = true});
    }
    return cases;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const Norm layer{.shape = {2, 3, 33}, .grad_sum = true};
        for (const Norm& norm : {layer, layer.rms()}) {
            cases.push_back(forward(norm).holding(value, "x", 40));
            cases.push_back(forward(norm).holding(value, "residual", 40));
            cases.push_back(forward(norm).holding(value, "gain", 4));
            cases.push_back(backward(norm).holding(value, "grad_y", 40));
            cases.push_back(backward(norm).holding(value, "grad_sum", 40));
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const float rate : {0.0F, 0.3F}) {
        for (const bool residual : {false, true}) {
            for (const bool direct : {false, true}) {
                const Norm layer{.shape = {2, 3, 9},
                                 .residual = residual,
                                 .rate = rate,
                                 .epsilon = 1e-3F,
                                 .grad_sum = direct,
                                 .grad_residual = residual};
                for (const Norm& norm : {layer, layer.rms()}) {
                    all.push_back({forward(norm), {backward(norm)}});
                }
            }
        }
    }
    // Without grad_y, gain and bias get no gradient.
    const Norm sum_only{.shape = {2, 3, 9}, .rate = 0.3F, .grad_y = false, .grad_sum = true};
    all.push_back({forward(sum_only), {backward(sum_only)}});
    return all;
}

std::vector<Case> size_cases() {
    std::vector<Case> cases;
    for (const Shape& shape :
         {Shape{3, 13, 6}, Shape{7, 1, 37}, Shape{2, 41, 81}, Shape{1, 3, 330}, Shape{1, 2, 4097}}) {
        add_both(cases, forward, {.shape = shape, .rate = 0.3F});
        add_both(cases, backward, {.shape = shape, .rate = 0.3F});
    }
    return cases;
}

// Rows that kernels keep in registers, for subgroups of 32 and of 64.
std::vector<Case> models_cases() {
    std::vector<Case> cases;
    for (const std::int64_t columns : {512, 1024}) {
        for (const float rate : {0.0F, 0.1F}) {
            for (const bool residual : {false, true}) {
                add_both(cases, forward, {.shape = {1, 2, columns}, .residual = residual, .rate = rate});
            }
            for (const bool direct : {false, true}) {
                add_both(cases, backward, {.shape = {1, 2, columns}, .rate = rate, .grad_sum = direct});
            }
        }
    }
    return cases;
}

// A device may flush denormals to 0 where they are read, added or written.
Case::Accept flushed() {
    return [](const std::string& output, std::size_t index, double got, const HostValues& inputs) {
        const Values& x = inputs.at("x");
        if (output == "sum") {
            return got == 0.0 && std::abs(x[index]) < 0x1p-126;
        }
        const auto most =
            std::max_element(x.begin(), x.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
        return output == "mean" && std::abs(got) <= std::abs(*most);
    };
}

std::vector<Case> extreme_cases() {
    std::vector<Case> cases;
    for (const auto& [what, values] :
         std::vector<std::pair<const char*, Values>>{{"large", {1e15, -3e14, 2e15, 5e14, 7e14}},
                                                     {"small", {1e-15, -3e-14, 2e-15, 5e-14, 7e-14}},
                                                     {"equal", {3.0}},
                                                     {"denormal", {0x1p-140, -0x1p-149, 0x1p-130, 0.0, 0x1p-127}}}) {
        for (const bool mean : {true, false}) {  // RMS norm would scale denormals that a device may flush
            Case stated = forward({.shape = {1, 3, 33}, .residual = false, .mean = mean});
            stated.name += fmt::format(" of {} numbers", what);
            stated.operands[0].values = these(values);
            if (std::abs(values[0]) < 0x1p-126) {
                stated.accept = flushed();
            }
            cases.push_back(stated);
        }
    }
    return cases;
}

std::vector<Case> speeds(const Workload& work) {
    const Norm norm{.shape = {work.sentences, work.length, work.d_model}, .rate = 0.1F};
    const std::string name = fmt::format("{}x{} dropout", work.rows(), work.d_model);
    Norm sums = norm;
    sums.x_sums = true;
    return {forward(norm).named(name), backward(norm).named(name), backward(sums).named(name + ", sums")};
}

}  // namespace

Family family() {
    return {.name = "layer_norm",
            .groups =
                {
                    {"add-norm", "add and norm", add_norm_cases},
                    {"far-from-zero", "rows far from zero keep their variance", far_from_zero_cases},
                    {"add-norm-back", "the backward of add and norm", add_norm_back_cases},
                    {"add-norm-sums", "the backward of add and norm with column sums", add_norm_sums_cases},
                    {"special-values", "NaN and infinity spoil one row of a norm", special_values_cases},
                    {"sizes", "rows of sizes that no workgroup divides", size_cases},
                    {"models", "rows of the paper's models", models_cases},
                    {"extreme", "rows of very large, very small, equal and denormal numbers", extreme_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::layer_norm_cases
