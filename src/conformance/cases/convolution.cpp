// Unfold and SumTaps.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backend/ops/convolution.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::convolution_cases {

namespace {

struct Window {
    Shape x;  // [batch, length, channels]
    std::int64_t taps = 3, first = -1, step = 1;
    bool lengths = false;
    std::int64_t positions = -1;  // of the output; below 0: as many as x has
    bool documents = false;       // of two positions each

    std::int64_t outputs() const { return positions < 0 ? x[1] : positions; }
    std::string title() const {
        return fmt::format("{} {} taps from {} by {}{}{}{}", x.to_string(), taps, first, step,
                           lengths ? " lengths" : "", documents ? " documents" : "",
                           positions < 0 ? "" : fmt::format(" to {}", positions));
    }
    // The same taps seen from their other end.
    Window turned() const {
        Window other = *this;
        other.x.set(1, outputs());
        other.positions = x[1];
        other.first = -first;
        other.step = -step;
        return other;
    }
};

// Of padded texts, one of them without padding and one with nothing else, and of documents in them.
std::vector<Operand> with_limits(std::vector<Operand> operands, const Window& window) {
    if (window.lengths) {
        const auto longest = static_cast<double>(std::max(window.x[1], window.outputs()));
        operands.push_back({"lengths", {window.x[0]}, these({std::max(longest - 2, 0.0), longest, 0.0})});
    }
    if (window.documents) {
        Values ranges;
        for (std::int64_t i = 0; i < window.x[0] * window.outputs(); ++i) {
            const auto begin = static_cast<double>(i % window.outputs() / 2 * 2);
            ranges.insert(ranges.end(), {begin, begin + 2});
        }
        operands.push_back({"ranges", {window.x[0], window.outputs(), 2}, these(ranges)});
    }
    return operands;
}

Case unfold(const Window& window, const char* x = "x", const char* to = "out") {
    const Shape out{window.x[0], window.outputs(), window.taps * window.x[2]};
    return make_case(window.title(), with_limits({{x, window.x}, {to, out}}, window), [=](const Operands& t) {
        return Unfold{.x = t[x],
                      .lengths = t.maybe("lengths"),
                      .ranges = t.maybe("ranges"),
                      .out = t[to],
                      .taps = window.taps,
                      .first = window.first,
                      .step = window.step};
    });
}

Case sum_taps(const Window& window, bool weights, const char* x = "x", const char* to = "out") {
    const std::int64_t channels = window.x[2];
    const Shape in{window.x[0], window.x[1], (weights ? 1 : window.taps) * channels};
    std::vector<Operand> operands{{x, in}, {to, {window.x[0], window.outputs(), channels}}};
    if (weights) {
        operands.push_back({"weights", {window.taps, channels}});
    }
    const auto build = [=](const Operands& t) {
        return SumTaps{.x = t[x],
                       .weights = t.maybe("weights"),
                       .lengths = t.maybe("lengths"),
                       .ranges = t.maybe("ranges"),
                       .out = t[to],
                       .taps = window.taps,
                       .first = window.first,
                       .step = window.step,
                       .write = t.write(to)};
    };
    Case stated = make_case(window.title() + (weights ? " weights" : ""), with_limits(operands, window), build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(window.taps));
}

std::vector<Window> windows() {
    std::vector<Window> all;
    for (const Shape& x : {Shape{1, 1, 1}, Shape{3, 5, 33}, Shape{3, 33, 1}, Shape{1, 5, 257}, Shape{2, 0, 5},
                           Shape{0, 3, 4}, Shape{2, 3, 0}, Shape{5, 7, 64}}) {
        for (const bool lengths : {false, true}) {
            all.push_back({x, 3, -1, 1, lengths});    // symmetric
            all.push_back({x, 4, -6, 2, lengths});    // causal and dilated
            all.push_back({x, 3, 2, -1, lengths});    // turned around
            all.push_back({x, 1, 0, 1, lengths});     // one alone
            all.push_back({x, 9, -40, 10, lengths});  // wider than the text
        }
    }
    for (const std::int64_t channels : {5, 8}) {
        all.push_back({{3, 7, channels}, 5, -2, 1, false, -1, true});
        all.push_back({{3, 7, channels}, 3, -2, 1, true, -1, true});
    }
    all.push_back({{3, 9, 8}, 3, 4, 2, false, 5});  // only the last outputs
    all.push_back({{3, 5, 8}, 3, -4, -2, false, 9});
    return all;
}

std::vector<Case> unfold_cases() {
    std::vector<Case> cases;
    for (const Window& window : windows()) {
        cases.push_back(unfold(window));
    }
    cases.push_back(unfold({{2, 40000, 3}, 3, -2, 1, true}).past_a_grid());
    return cases;
}

std::vector<Case> sum_cases() {
    std::vector<Case> cases;
    for (const Window& window : windows()) {
        cases.push_back(sum_taps(window, false));
        cases.push_back(sum_taps(window, true));
    }
    cases.push_back(sum_taps({{2, 40000, 3}, 3, -2, 1, true}, true).past_a_grid());
    return cases;
}

// What is not read cannot spread: of padding, and behind the taps.
std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity}) {
        for (const std::size_t index : {20U, 12 * 8U - 1U, 12 * 8U + 1U}) {
            cases.push_back(unfold({{3, 6, 8}, 3, -2, 1, true}).holding(value, "x", index));
            cases.push_back(sum_taps({{3, 6, 8}, 3, -2, 1, true}, true).holding(value, "x", index));
        }
    }
    return cases;
}

// Without weights: tests/autograd has their gradient, which other ops compute.
std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Window& window : {Window{{3, 6, 5}, 3, -1, 1, true}, Window{{2, 7, 4}, 4, -6, 2, false},
                                 Window{{2, 9, 3}, 3, 4, 2, false, 5}, Window{{2, 7, 4}, 5, -2, 1, true, -1, true}}) {
        const Window back = window.turned();
        all.push_back({unfold(window), {sum_taps(back, false, "grad_out", "grad_x")}});
        all.push_back({sum_taps(window, false), {unfold(back, "grad_out", "grad_x")}});
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Window window{{work.sentences, work.length, work.d_model}, 3, -1, 1, true};
    const std::string name = fmt::format("{}x{} 3 taps", work.rows(), work.d_model);
    return {unfold(window).named(name), sum_taps(window, false).named(name),
            sum_taps(window, true).named(name + ", depthwise")};
}

}  // namespace

Family family() {
    return {.name = "convolution",
            .groups =
                {
                    {"neighbours", "neighbours side by side", unfold_cases},
                    {"sums", "sums over neighbours, weighted and not", sum_cases},
                    {"special-values", "NaN and infinity spread to the neighbours alone", special_values_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::convolution_cases
