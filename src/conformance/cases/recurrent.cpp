// RecurrentStep and its backward.
#include <fmt/format.h>

#include <limits>

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/recurrent.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::recurrent_cases {

namespace {

constexpr std::array kCells{RecurrentCell::Lstm, RecurrentCell::Gru};

struct CellStep {
    RecurrentCell cell = RecurrentCell::Lstm;
    std::int64_t batch = 1;
    std::int64_t columns = 1;
    bool whole = true;    // every operand; else only those that are always there
    bool padded = false;  // with lengths, of which some are at most the position
    bool packed = false;  // with documents, of which some end here
    bool from_end = false;

    bool lstm() const { return cell == RecurrentCell::Lstm; }
    std::int64_t wide() const { return gates_of(cell) * columns; }
    std::string title() const {
        return fmt::format("{} [{}, {}]{}{}{}{}", lstm() ? "LSTM" : "GRU", batch, columns, whole ? "" : " alone",
                           padded ? " padded" : "", packed ? " packed" : "", from_end ? " from the end" : "");
    }
};

constexpr std::int64_t kAt = 3;  // the position

std::vector<Operand> at_position(const CellStep& step, std::vector<Operand> operands) {
    if (step.padded) {
        operands.push_back(Operand("lengths", {step.batch}, these({4, 3, 0, 9, 2})).typed(DType::I32));
    }
    if (step.packed) {
        operands.push_back(Operand("documents", {step.batch, 5, 2},
                                   these({0, 3, 0, 3, 0, 3, 3, 4, 4, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5,
                                          0, 2, 0, 2, 2, 5, 2, 5, 2, 5, 0, 4, 0, 4, 0, 4, 0, 4, 0, 0}))
                               .typed(DType::I32));
    }
    return operands;
}

RecurrentPosition position_of(const CellStep& step, const Operands& t) {
    return {
        .position = kAt, .from_end = step.from_end, .lengths = t.maybe("lengths"), .documents = t.maybe("documents")};
}

Case forward_step(const CellStep& step) {
    const Shape narrow{step.batch, step.columns};
    const Shape wide{step.batch, step.wide()};
    std::vector<Operand> operands{{"x", wide}, {"hidden", narrow}, {"next_hidden", narrow}};
    if (step.lstm()) {
        operands.push_back({"state", narrow});
        operands.push_back({"next_state", narrow});
    }
    if (step.whole) {
        operands.push_back({"h", wide});
        operands.push_back({"bias", {step.wide()}});
        operands.push_back({"y", narrow});
        operands.push_back({"gates", {step.batch, 4 * step.columns}});
    }
    const Case stated = make_case(step.title(), at_position(step, operands), [=](const Operands& t) {
        return RecurrentStep{.cell = step.cell,
                             .x = t["x"],
                             .h = t.maybe("h"),
                             .bias = t.maybe("bias"),
                             .hidden = t["hidden"],
                             .state = t.maybe("state"),
                             .next_hidden = t["next_hidden"],
                             .next_state = t.maybe("next_state"),
                             .y = t.maybe("y"),
                             .gates = t.maybe("gates"),
                             .at = position_of(step, t)};
    });
    return stated.cancels(1.0);  // tanh is a difference
}

Case backward_step(const CellStep& step) {
    const Shape narrow{step.batch, step.columns};
    const Shape wide{step.batch, step.wide()};
    std::vector<Operand> operands{
        {"gates", {step.batch, 4 * step.columns}, uniform(0.05, 0.95)}, {"grad_x", wide}, {"grad_hidden", narrow}};
    if (step.lstm()) {
        operands.insert(operands.end(), {{"state", narrow}, {"grad_state", narrow}});
    } else {
        operands.insert(operands.end(), {{"hidden", narrow}, {"grad_h", wide}});
    }
    if (step.whole) {
        operands.push_back({"grad_y", narrow});
        operands.push_back({"grad_next_hidden", narrow});
        if (step.lstm()) {
            operands.push_back({"grad_next_state", narrow});
        }
    }
    const Case stated = make_case(step.title(), at_position(step, operands), [=](const Operands& t) {
        return RecurrentStepBackward{.cell = step.cell,
                                     .gates = t["gates"],
                                     .hidden = t.maybe("hidden"),
                                     .state = t.maybe("state"),
                                     .grad_y = t.maybe("grad_y"),
                                     .grad_next_hidden = t.maybe("grad_next_hidden"),
                                     .grad_next_state = t.maybe("grad_next_state"),
                                     .grad_x = t["grad_x"],
                                     .grad_h = t.maybe("grad_h"),
                                     .grad_hidden = t["grad_hidden"],
                                     .grad_state = t.maybe("grad_state"),
                                     .at = position_of(step, t)};
    });
    return stated.cancels(1.0);
}

std::vector<CellStep> steps() {
    std::vector<CellStep> all;
    for (const RecurrentCell cell : kCells) {
        for (const auto& [batch, columns] : {std::pair{1, 1}, {5, 33}, {3, 64}, {2, 257}, {7, 5}, {0, 4}, {3, 0}}) {
            for (const bool padded : {false, true}) {
                all.push_back({cell, batch, columns, true, padded});
            }
        }
        all.push_back({cell, 7, 33, true, false, true, false});
        all.push_back({cell, 7, 64, true, true, true, true});
        all.push_back({cell, 3, 33, false, false});

        all.push_back({cell, 5, 64, false, true});
        all.push_back({cell, 2, 1024, true, false});  // a model's, in half of one
    }
    return all;
}

std::vector<Case> forward_step_cases() {
    std::vector<Case> cases;
    for (const CellStep& step : steps()) {
        cases.push_back(forward_step(step));
    }
    for (const RecurrentCell cell : kCells) {
        Case far = forward_step({cell, 3, 33});
        far.name += " far out";
        far.operands[0].values = these({-1000, -104, -89, -45, -20, 0, 20, 45, 89, 104, 1000});
        cases.push_back(far);
        cases.push_back(forward_step({cell, 40000, 3, true, true}).past_a_grid());
    }
    return cases;
}

std::vector<Case> backward_step_cases() {
    std::vector<Case> cases;
    for (const CellStep& step : steps()) {
        cases.push_back(backward_step(step));
    }
    for (const RecurrentCell cell : kCells) {
        cases.push_back(backward_step({cell, 40000, 3, true, true}).past_a_grid());
    }
    return cases;
}

// In a row of padding nothing shows of what x, h, gates and gradients of y hold.
std::vector<Case> special_step_cases() {
    std::vector<Case> cases;
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (const RecurrentCell cell : kCells) {
            const CellStep step{cell, 5, 33, true, true};
            for (const std::size_t row : {0U, 1U}) {  // of a token, of padding
                const std::size_t wide = row * static_cast<std::size_t>(step.wide()) + 7;
                cases.push_back(forward_step(step).holding(value, "x", wide));
                cases.push_back(forward_step(step).holding(value, "h", wide));
                cases.push_back(backward_step(step).holding(value, "gates", row * 4 * 33 + 7));
                cases.push_back(backward_step(step).holding(value, "grad_y", row * 33 + 7));
            }
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const RecurrentCell cell : kCells) {
        for (const CellStep& step :
             {CellStep{cell, 5, 7}, CellStep{cell, 5, 7, true, true}, CellStep{cell, 5, 7, true, true, true},
              CellStep{cell, 5, 7, true, false, true, true}}) {
            const Shape wide{5, step.wide()};
            const char* const of_h = step.lstm() ? "grad_x" : "grad_h";
            std::vector<Case> backward{
                backward_step(step),
                make_case("the bias", {{of_h, wide}, {"grad_bias", {step.wide()}}}, [=](const Operands& t) {
                    return SumRows{t[of_h], t["grad_bias"], t.write("grad_bias")};
                })};
            if (step.lstm()) {
                backward.push_back(
                    make_case("the same of h", {{"grad_x", wide}, {"grad_h", wide}}, [](const Operands& t) {
                        return Copy{t["grad_x"], t["grad_h"], t.write("grad_h")};
                    }));
            }
            all.push_back({forward_step(step), backward});
        }
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    std::vector<Case> all;
    for (const RecurrentCell cell : kCells) {
        const CellStep step{.cell = cell, .batch = 4 * work.sentences, .columns = work.d_model, .padded = true};
        all.push_back(forward_step(step));
        all.push_back(backward_step(step));
    }
    return all;
}

}  // namespace

Family family() {
    return {.name = "recurrent",
            .groups =
                {
                    {"steps", "a time step of an LSTM and a GRU", forward_step_cases},
                    {"steps-back", "its gradients", backward_step_cases},
                    {"special-values", "NaN and infinity spread column by column, and not from padding",
                     special_step_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::recurrent_cases
