// SmoothedCrossEntropy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backend/ops/loss.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::loss_cases {

namespace {

struct Loss {
    std::int64_t rows, classes;
    float epsilon = 0.1F;
    Smoothing smoothing = Smoothing::AllClasses;
    bool grad = true;
    double spread = 3.0;
    Values targets = {};                     // random by default, every third row a pad
    double scale = 0.0;                      // of the gradient; 0: absent
    std::optional<std::int64_t> prior = {};  // so many of the first classes have none
    Values weights = {};                     // of the rows, in turn; absent by default

    std::string title() const {
        return fmt::format("[{}, {}] epsilon {} {} spread {}{}{}{}{}{}", rows, classes, epsilon,
                           smoothing == Smoothing::AllClasses ? "all" : "others", spread, grad ? "" : " no gradient",
                           targets.empty() ? "" : " given targets", scale == 0.0 ? "" : fmt::format(" scale {}", scale),
                           prior ? fmt::format(" prior without {}", *prior) : "",
                           weights.empty() ? "" : fmt::format(" {} weights", weights.size()));
    }
};

Generator targets_of(const Loss& loss) {
    if (!loss.targets.empty()) {
        return these(loss.targets);
    }
    return [classes = loss.classes](std::int64_t count, Random& random) {
        Values values = integers(0, classes)(count, random);
        for (std::size_t row = 1; row < values.size(); row += 3) {
            values[row] = -1.0;
        }
        return values;
    };
}

// Sums to 1, like the frequencies of words: few large ones, many small ones, and 0 of every fifth class.
Generator prior_of(std::int64_t without) {
    return [=](std::int64_t count, Random&) {
        Values values;
        double sum = 0.0;
        for (std::int64_t c = 0; c < count; ++c) {
            values.push_back(c < without || c % 5 == 3 ? 0.0 : 1.0 / static_cast<double>(1 + (c * 7) % count));
            sum += values.back();
        }
        std::transform(values.begin(), values.end(), values.begin(), [&](double value) { return value / sum; });
        return values;
    };
}

Case cross_entropy(const Loss& loss) {
    const Shape shape{loss.rows, loss.classes};
    std::vector<Operand> operands{{"logits", shape, normal(loss.spread)},
                                  {"targets", {loss.rows}, targets_of(loss)},
                                  {"loss", {loss.rows}},
                                  {"nll", {loss.rows}}};
    if (loss.grad) {
        operands.push_back({"grad_logits", shape});
    }
    if (loss.scale > 0.0) {
        operands.push_back({"grad_scale", {1}, these({loss.scale})});
    }
    if (loss.prior) {
        operands.push_back({"prior", {loss.classes}, prior_of(*loss.prior)});
    }
    double largest = 1.0;  // factor of a gradient
    if (!loss.weights.empty()) {
        operands.push_back({"weights", {loss.rows}, these(loss.weights)});
        for (const double weight : loss.weights) {
            largest = std::max(largest, std::abs(weight));
        }
    }
    return make_case(loss.title(), operands,
                     [=](const Operands& t) {
                         return SmoothedCrossEntropy{.logits = t["logits"],
                                                     .targets = t["targets"],
                                                     .loss = t["loss"],
                                                     .nll = t["nll"],
                                                     .grad_logits = t.maybe("grad_logits"),
                                                     .grad_scale = t.maybe("grad_scale"),
                                                     .prior = t.maybe("prior"),
                                                     .weights = t.maybe("weights"),
                                                     .epsilon = loss.epsilon,
                                                     .smoothing = loss.smoothing};
                     })
        .sums(static_cast<double>(loss.classes))
        .cancels(largest * std::max(1.0, loss.scale));  // weight * scale * (p - q)
}

std::vector<Case> loss_cases() {
    std::vector<Case> cases;
    for (const Smoothing smoothing : {Smoothing::AllClasses, Smoothing::OtherClasses}) {
        for (const float epsilon : {0.0F, 0.1F, 0.6F}) {
            for (const std::int64_t classes : {2, 3, 33, 257, 1003}) {
                cases.push_back(cross_entropy({7, classes, epsilon, smoothing}));
            }
            cases.push_back(cross_entropy({33, 33, epsilon, smoothing, false}));
            cases.push_back(cross_entropy({5, 65, epsilon, smoothing, true, 40.0}));
            cases.push_back(cross_entropy({3, 33, epsilon, smoothing, true, 3.0, {0, 32, -1}}));
        }
        cases.push_back(cross_entropy({0, 33, 0.1F, smoothing}));
        cases.push_back(cross_entropy({4, 8000, 0.1F, smoothing}));
        cases.push_back(cross_entropy({2, 37000, 0.1F, smoothing}));
        cases.push_back(cross_entropy({5, 264, 0.1F, smoothing, true, 40.0, {0, 263, 8, -1}}));
        cases.push_back(cross_entropy({6, 33, 0.1F, smoothing, true, 3.0, {-1}}));  // only pads
    }
    for (const double scale : {0.25, 1.0, 8.0, 32768.0, 131072.0}) {  // the last one overflows F16
        cases.push_back(cross_entropy({7, 33, 0.1F, Smoothing::AllClasses, true, 3.0, {}, scale}));
        cases.push_back(cross_entropy({5, 1003, 0.1F, Smoothing::OtherClasses, true, 3.0, {}, scale}));
    }
    cases.push_back(cross_entropy({6, 33, 0.1F, Smoothing::AllClasses, false, 3.0, {}, 8.0}));  // no gradient to scale
    cases.push_back(cross_entropy({3, 1, 0.1F}));
    cases.push_back(cross_entropy({3, 1, 0.0F, Smoothing::OtherClasses}));
    cases.push_back(cross_entropy({70000, 3, 0.1F}).past_a_grid());
    return cases;
}

std::vector<Case> prior_cases() {
    std::vector<Case> cases;
    const auto add = [&](Loss loss) {
        loss.prior = 0;
        cases.push_back(cross_entropy(loss));
    };
    for (const float epsilon : {0.0F, 0.1F, 0.6F}) {
        for (const std::int64_t classes : {2, 3, 33, 257, 1003}) {
            add({.rows = 7, .classes = classes, .epsilon = epsilon});
        }
        add({.rows = 33, .classes = 33, .epsilon = epsilon, .grad = false});
        add({.rows = 5, .classes = 65, .epsilon = epsilon, .spread = 40.0});
        add({.rows = 3, .classes = 33, .epsilon = epsilon, .targets = {0, 32, -1}});
    }
    add({.rows = 0, .classes = 33});
    add({.rows = 3, .classes = 1});
    add({.rows = 4, .classes = 8000});
    add({.rows = 7, .classes = 33, .scale = 8.0});
    return cases;
}

// Rows without a say, rows that are unlearned, and advantages.
const Values kWeights{1.0, 0.0, -1.0, 0.375, -2.5, 1e-3, 40.0};

std::vector<Case> weights_cases() {
    std::vector<Case> cases;
    const auto add = [&](Loss loss) {
        loss.weights = kWeights;
        cases.push_back(cross_entropy(loss));
    };
    for (const Smoothing smoothing : {Smoothing::AllClasses, Smoothing::OtherClasses}) {
        for (const float epsilon : {0.0F, 0.1F}) {
            for (const std::int64_t classes : {2, 33, 257, 1003}) {
                add({.rows = 9, .classes = classes, .epsilon = epsilon, .smoothing = smoothing});
            }
        }
        add({.rows = 33, .classes = 33, .smoothing = smoothing, .grad = false});
        add({.rows = 4, .classes = 8000, .smoothing = smoothing});
        add({.rows = 9, .classes = 264, .smoothing = smoothing, .scale = 8.0});
    }
    add({.rows = 0, .classes = 33});
    add({.rows = 9, .classes = 257, .prior = 0});
    add({.rows = 5, .classes = 33, .targets = {3, 33, -1, -2, 7}});
    return cases;
}

// The first `count` logits of two rows are forbidden; the target is one of them (the first) only in one row.
Case forbidding(const Loss& loss, std::int64_t count) {
    Case stated = cross_entropy(loss);
    stated.name += fmt::format(" {} forbidden", count);
    stated.operands[0].values = [=, inner = stated.operands[0].values](std::int64_t elements, Random& random) {
        Values values = inner(elements, random);
        std::fill_n(values.begin(), count, -kInfinity);
        std::fill_n(values.begin() + loss.classes, count, -kInfinity);
        return values;
    };
    return stated;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const std::int64_t without : {0, 8}) {
        cases.push_back(forbidding({.rows = 5, .classes = 33, .targets = {20, 0, -1, 9}, .prior = without}, 8));
    }
    for (const Smoothing smoothing : {Smoothing::AllClasses, Smoothing::OtherClasses}) {
        // One at a time and in vectors, where a thread may have only -inf.
        for (const std::int64_t classes : {33, 64}) {
            for (const float epsilon : {0.0F, 0.1F}) {
                const Loss loss{5, classes, epsilon, smoothing, true, 3.0, {20, 0, -1, 9}};
                for (const std::int64_t count : {std::int64_t{1}, std::int64_t{8}, classes}) {
                    cases.push_back(forbidding(loss, count));
                }
            }
        }
        const Loss loss{5, 33, 0.1F, smoothing, true, 3.0, {7, 8, -1, 9}};
        for (const std::size_t index : {40U, 41U, 70U}) {  // a class, the target, a pad's row
            cases.push_back(cross_entropy(loss).holding(std::numeric_limits<double>::quiet_NaN(), "logits", index));
            cases.push_back(cross_entropy(loss).holding(std::numeric_limits<double>::infinity(), "logits", index));
        }
        cases.push_back(cross_entropy({6, 33, 0.1F, smoothing, true, 3.0, {3, 33, -2, 1e9, -2147483648.0}}));
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Smoothing smoothing : {Smoothing::AllClasses, Smoothing::OtherClasses}) {
        for (const float epsilon : {0.0F, 0.1F}) {
            // The op computes the gradient of its own sum; there is no separate backward.
            all.push_back({cross_entropy({5, 7, epsilon, smoothing}), {}, {"loss"}});
        }
    }
    all.push_back({cross_entropy({.rows = 5, .classes = 7, .prior = 0}), {}, {"loss"}, {"prior"}});
    all.push_back({cross_entropy({.rows = 9, .classes = 7, .weights = kWeights}), {}, {"loss"}, {"weights"}});
    return all;
}

std::vector<Case> extreme_cases() {
    return {cross_entropy({.rows = 5, .classes = 33, .spread = 1e4}),
            cross_entropy({.rows = 5, .classes = 257, .spread = 1e30})};
}

std::vector<Case> speeds(const Workload& work) {
    constexpr std::int64_t kMostRows = 4096;  // a batch's logits never exist all at once
    const Loss loss{
        .rows = std::min(work.rows(), kMostRows), .classes = work.vocabulary, .targets = {3, 1, 4, 1, 5, 9, 2, 6}};
    return {cross_entropy(loss).named(fmt::format("{}x{}", loss.rows, loss.classes))};
}

}  // namespace

Family family() {
    return {.name = "loss",
            .groups =
                {
                    {"loss", "smoothed cross-entropy and its gradient", loss_cases},
                    {"prior", "the same, smoothed towards a given distribution", prior_cases},
                    {"weights", "the same, with a weight for each row", weights_cases},
                    {"special-values", "NaN, infinity and a target outside the classes spoil one row, and -inf forbids",
                     special_values_cases},
                    {"extreme", "the loss of logits of 1e4 and more", extreme_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::loss_cases
