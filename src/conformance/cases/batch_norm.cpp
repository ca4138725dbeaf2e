// BatchNorm and its backward.
#include <fmt/format.h>

#include "backend/ops/batch_norm.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::batch_norm_cases {

namespace {

struct Norm {
    Shape shape;
    bool measures = true;
    bool lengths = false;
    float epsilon = 1e-3F;
    bool grad_x = true;

    std::string title() const {
        return fmt::format("{}{}{}{} epsilon {}", shape.to_string(), measures ? "" : " running",
                           lengths ? " lengths" : "", grad_x ? "" : " no grad_x", epsilon);
    }
    Shape columns() const { return {shape[2]}; }
    double rows() const { return static_cast<double>(shape[0] * shape[1]); }
};

std::vector<Operand> with_lengths(std::vector<Operand> operands, const Norm& norm) {
    if (norm.lengths) {
        const auto longest = static_cast<double>(norm.shape[1]);
        operands.push_back({"lengths", {norm.shape[0]}, these({longest, longest - 1, 0})});
    }
    return operands;
}

Case forward(const Norm& norm) {
    return make_case(norm.title(),
                     with_lengths({{"x", norm.shape},
                                   {"gain", norm.columns()},
                                   {"bias", norm.columns()},
                                   {"running_mean", norm.columns()},
                                   {"running_variance", norm.columns(), uniform(0.5, 2.0)},
                                   {"y", norm.shape},
                                   {"mean", norm.columns()},
                                   {"rstd", norm.columns()}},
                                  norm),
                     [=](const Operands& t) {
                         return BatchNorm{.x = t["x"],
                                          .lengths = t.maybe("lengths"),
                                          .gain = t["gain"],
                                          .bias = t["bias"],
                                          .running_mean = t["running_mean"],
                                          .running_variance = t["running_variance"],
                                          .y = t["y"],
                                          .mean = t["mean"],
                                          .rstd = t["rstd"],
                                          .epsilon = norm.epsilon,
                                          .momentum = 0.3F,
                                          .measures = norm.measures};
                     })
        .sums(norm.rows());
}

Case backward(const Norm& norm) {
    std::vector<Operand> operands{{"x", norm.shape},
                                  {"gain", norm.columns()},
                                  {"mean", norm.columns(), normal(0.3)},
                                  {"rstd", norm.columns(), uniform(0.5, 2.0)},
                                  {"grad_y", norm.shape},
                                  {"grad_gain", norm.columns()},
                                  {"grad_bias", norm.columns()}};
    if (norm.grad_x) {
        operands.push_back({"grad_x", norm.shape});
    }
    return make_case(norm.title(), with_lengths(operands, norm),
                     [=](const Operands& t) {
                         return BatchNormBackward{.x = t["x"],
                                                  .lengths = t.maybe("lengths"),
                                                  .gain = t["gain"],
                                                  .mean = t["mean"],
                                                  .rstd = t["rstd"],
                                                  .grad_y = t["grad_y"],
                                                  .grad_x = t.maybe("grad_x"),
                                                  .grad_gain = t["grad_gain"],
                                                  .grad_bias = t["grad_bias"],
                                                  .measures = norm.measures,
                                                  .write_x = norm.grad_x ? t.write("grad_x") : Write::Overwrite,
                                                  .write_gain = t.write("grad_gain"),
                                                  .write_bias = t.write("grad_bias")};
                     })
        .sums(norm.rows())
        .cancels(1.0);  // grad_y less its average and its part along n
}

std::vector<Norm> norms() {
    std::vector<Norm> all;
    for (const Shape& shape : {Shape{1, 2, 1}, Shape{2, 3, 33}, Shape{3, 33, 1}, Shape{1, 5, 257}, Shape{0, 3, 4},
                               Shape{2, 0, 5}, Shape{2, 3, 0}, Shape{5, 7, 64}, Shape{3, 300, 8}}) {
        all.push_back({shape});
        all.push_back({shape, false});
        all.push_back({shape, true, true});
    }
    all.push_back({{1, 1, 4}, true, false, 0.5F});  // a position alone
    all.push_back({{3, 5, 8}, true, true, 1e-5F});
    return all;
}

std::vector<Case> norm_cases() {
    std::vector<Case> cases;
    for (const Norm& norm : norms()) {
        cases.push_back(forward(norm));
    }
    return cases;
}

std::vector<Case> norm_back_cases() {
    std::vector<Case> cases;
    for (Norm norm : norms()) {
        cases.push_back(backward(norm));
    }
    cases.push_back(backward({.shape = {2, 3, 33}, .lengths = true, .grad_x = false}));
    return cases;
}

// A column's NaN stays in it, and that of padding out of the statistics.
std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    const Norm norm{{3, 4, 8}, true, true};
    for (const std::size_t index : {10U, 7 * 8U + 2U, 9 * 8U + 3U}) {
        cases.push_back(forward(norm).holding(kNan, "x", index));
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const bool lengths : {false, true}) {
        const Norm norm{{3, 4, 5}, true, lengths};
        all.push_back({forward(norm), {backward(norm)}});
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Norm norm{{work.sentences, work.length, work.d_model}, true, true};
    const std::string name = fmt::format("{}x{}", work.rows(), work.d_model);
    return {forward(norm).named(name), backward(norm).named(name)};
}

}  // namespace

Family family() {
    return {.name = "batch_norm",
            .groups =
                {
                    {"norms", "measured and running statistics, with and without padding", norm_cases},
                    {"norms-back", "the backward of a batch norm", norm_back_cases},
                    {"special-values", "NaN stays in its column, and padding's out of the statistics",
                     special_values_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::batch_norm_cases
