// AdditiveScores and its backward.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backend/ops/additive.h"
#include "backend/ops/bias.h"
#include "conformance/cases/catalogue.h"
#include "conformance/cases/fused_attention.h"

namespace headscope::conformance::additive_cases {

namespace {

Shape gain_of(const Heads& size) {
    return {size.heads, size.d_k};
}

std::string title_of(const Heads& size) {
    return fmt::format("{} to {}", size.q().to_string(), size.keys);
}

Case additive_scores(const Heads& size) {
    const auto build = [](const Operands& t) {
        return AdditiveScores{.q = t["q"], .k = t["k"], .gain = t["gain"], .scores = t["scores"]};
    };
    return make_case(title_of(size),
                     {{"q", size.q()}, {"k", size.k()}, {"gain", gain_of(size)}, {"scores", size.weights()}}, build)
        .sums(static_cast<double>(size.d_k))
        .cancels(1.0);  // tanh is a difference
}

// The gradient of queries, or of keys; with the products that become the gradient of the gain.
Case additive_backward(const Heads& size, bool of_keys, bool products = true) {
    const char* const x = of_keys ? "k" : "q";
    const char* const others = of_keys ? "q" : "k";
    const char* const grad = of_keys ? "grad_k" : "grad_q";
    const Shape rows = of_keys ? size.k() : size.q();
    std::vector<Operand> operands{
        {"q", size.q()}, {"k", size.k()}, {"gain", gain_of(size)}, {"grad_scores", size.weights()}, {grad, rows}};
    if (products) {
        operands.push_back({"products", {rows[0], rows[2], rows[1], rows[3]}});
    }
    const auto build = [=](const Operands& t) {
        return AdditiveScoresBackward{.x = t[x],
                                      .others = t[others],
                                      .gain = t["gain"],
                                      .grad_scores = t["grad_scores"],
                                      .grad_x = t[grad],
                                      .products = t.maybe("products"),
                                      .of_keys = of_keys,
                                      .write = t.write(grad)};
    };
    return make_case(fmt::format("{} of {}{}", title_of(size), x, products ? "" : " alone"), operands, build)
        .sums(static_cast<double>(of_keys ? size.queries : size.keys))
        .cancels(4.0);  // 1 - t^2, times a gradient and a gain
}

Case gain_backward(const Heads& size) {
    const std::int64_t rows = size.batch * size.queries;
    const std::int64_t columns = size.heads * size.d_k;
    return make_case("gain",
                     {{"products", {size.batch, size.queries, size.heads, size.d_k}}, {"grad_gain", gain_of(size)}},
                     [=](const Operands& t) {
                         return SumRows{.x = t["products"].reshape({rows, columns}),
                                        .out = t["grad_gain"].reshape({columns}),
                                        .write = t.write("grad_gain")};
                     });
}

std::vector<Heads> sizes() {
    return {{1, 1, 1, 1, 1, 1},   {2, 3, 5, 7, 4, 4}, {2, 2, 9, 6, 5, 5}, {1, 2, 33, 40, 64, 64}, {3, 1, 1, 17, 16, 16},
            {2, 2, 4, 1, 33, 33}, {0, 2, 3, 4, 8, 8}, {2, 2, 0, 4, 8, 8}, {2, 2, 3, 0, 8, 8}};
}

std::vector<Case> scores_cases() {
    std::vector<Case> cases;
    for (const Heads& size : sizes()) {
        cases.push_back(additive_scores(size));
    }
    cases.push_back(additive_scores({2, 2, 200, 200, 3, 3}).past_a_grid());
    return cases;
}

std::vector<Case> backward_cases() {
    std::vector<Case> cases;
    for (const Heads& size : sizes()) {
        for (const bool of_keys : {false, true}) {
            cases.push_back(additive_backward(size, of_keys));
        }
    }
    cases.push_back(additive_backward({2, 3, 5, 7, 4, 4}, false, false));
    cases.push_back(additive_backward({2, 2, 40000, 2, 3, 3}, false).past_a_grid());
    return cases;
}

// tanh of infinity is 1, and NaN reaches the scores of its row or key alone.
std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity, -kInfinity, 200.0}) {
        for (const char* const operand : {"q", "k"}) {
            cases.push_back(additive_scores({1, 2, 3, 5, 8, 8}).holding(value, operand, 17));
            cases.push_back(additive_backward({1, 2, 3, 5, 8, 8}, operand[0] == 'k').holding(value, operand, 17));
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Heads& size : {Heads{2, 2, 3, 4, 5, 5}, Heads{1, 3, 4, 2, 8, 8}}) {
        all.push_back({additive_scores(size),
                       {additive_backward(size, false), additive_backward(size, true, false), gain_backward(size)}});
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Heads size{work.sentences, work.heads, work.length, work.length, work.d_k(), work.d_k()};
    return {additive_scores(size), additive_backward(size, false), additive_backward(size, true)};
}

}  // namespace

Family family() {
    return {
        .name = "additive",
        .groups =
            {
                {"scores", "scores of additive attention", scores_cases},
                {"gradients", "the gradients of its queries, keys and gains", backward_cases},
                {"special-values", "NaN and infinity reach the scores of their row or key alone", special_values_cases},
            },
        .differentiations = differentiations,
        .speeds = speeds};
}

}  // namespace headscope::conformance::additive_cases
