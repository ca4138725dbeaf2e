// RouteTokens, its backward, TakeTokens and MixExperts.
#include <fmt/format.h>

#include <algorithm>

#include "backend/ops/experts.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::experts_cases {

namespace {

struct Routing {
    Shape logits;  // [batch, length, experts]
    std::int64_t choices = 2;
    std::int64_t capacity = 0;
    bool lengths = false;
    bool keys = false;

    std::int64_t experts() const { return logits[2]; }
    std::int64_t tokens() const { return logits[0] * logits[1]; }
    Shape slots() const { return {experts(), capacity}; }
    Shape each_choice() const { return {logits[0], logits[1], choices}; }
    std::string title() const {
        return fmt::format("{} of {}, {} each{}{}", choices, logits.to_string(), capacity, lengths ? " lengths" : "",
                           keys ? " keys" : "");
    }
    double terms() const { return static_cast<double>(std::max(tokens(), experts())); }
};

std::vector<Operand> with_lengths(std::vector<Operand> operands, const Routing& routing) {
    if (routing.lengths) {
        const auto longest = static_cast<double>(routing.logits[1]);
        operands.push_back({"lengths", {routing.logits[0]}, these({std::max(longest - 2, 0.0), longest, 0.0})});
    }
    return operands;
}

Case route(const Routing& routing, Generator logits = normal(2.0)) {
    std::vector<Operand> operands{{"logits", routing.logits, std::move(logits)},
                                  {"probabilities", routing.logits},
                                  {"chosen", routing.each_choice()},
                                  {"slots", routing.each_choice()},
                                  {"sources", routing.slots()},
                                  {"weights", routing.slots()},
                                  {"shares", {routing.experts()}},
                                  {"sums", {routing.experts()}}};
    if (routing.keys) {
        operands.push_back({"ordinals", {routing.logits[0]}, these({3, 70000, 1})});
        operands.push_back({"keys", routing.slots()});
    }
    return make_case(routing.title(), with_lengths(operands, routing),
                     [](const Operands& t) {
                         return RouteTokens{.logits = t["logits"],
                                            .lengths = t.maybe("lengths"),
                                            .ordinals = t.maybe("ordinals"),
                                            .probabilities = t["probabilities"],
                                            .chosen = t["chosen"],
                                            .slots = t["slots"],
                                            .sources = t["sources"],
                                            .weights = t["weights"],
                                            .keys = t.maybe("keys"),
                                            .shares = t["shares"],
                                            .sums = t["sums"]};
                     })
        .sums(routing.terms());
}

// Of the i-th token the experts i, i + 1, .. and slots that are anywhere, or -1.
Case route_backward(const Routing& routing, bool sums) {
    Values chosen;
    Values slots;
    for (std::int64_t i = 0; i < routing.tokens() * routing.choices; ++i) {
        chosen.push_back(static_cast<double>((i / routing.choices + i % routing.choices) % routing.experts()));
        slots.push_back(i % 4 == 3 || routing.capacity == 0
                            ? -1.0
                            : static_cast<double>(i * 7 % (routing.experts() * routing.capacity)));
    }
    std::vector<Operand> operands{{"probabilities", routing.logits, uniform(0.1, 0.5)},
                                  {"chosen", routing.each_choice(), these(chosen)},
                                  {"slots", routing.each_choice(), these(slots)},
                                  {"grad_weights", routing.slots()},
                                  {"grad_logits", routing.logits}};
    if (sums) {
        operands.push_back({"grad_sums", {routing.experts()}});
    }
    return make_case(routing.title() + (sums ? " sums" : ""), with_lengths(operands, routing),
                     [](const Operands& t) {
                         return RouteTokensBackward{.probabilities = t["probabilities"],
                                                    .lengths = t.maybe("lengths"),
                                                    .chosen = t["chosen"],
                                                    .slots = t["slots"],
                                                    .grad_weights = t["grad_weights"],
                                                    .grad_sums = t.maybe("grad_sums"),
                                                    .grad_logits = t["grad_logits"],
                                                    .write = t.write("grad_logits")};
                     })
        .sums(static_cast<double>(routing.experts()))
        .cancels(10.0);  // gradients less their means
}

// Tokens and the slots of their choices: the i-th choice is in slot 5 i modulo their number, but every seventh in none.
struct Slots {
    std::int64_t tokens = 0, choices = 2, slots = 0, columns = 0;
    bool weights = false;
    bool dots = false;

    std::string title() const {
        return fmt::format("{} tokens, {} slots of {}{}{}", tokens, slots, columns, weights ? " weights" : "",
                           dots ? " dots" : "");
    }
    Values slots_of_choices() const {
        Values all;
        for (std::int64_t i = 0; i < tokens * choices; ++i) {
            all.push_back(i % 7 == 6 || i >= slots ? -1.0 : static_cast<double>(i * 5 % slots));
        }
        return all;
    }
    Values sources() const {
        Values all(static_cast<std::size_t>(slots), -1.0);
        const Values slot_of = slots_of_choices();
        for (std::size_t i = 0; i < slot_of.size(); ++i) {
            if (slot_of[i] >= 0) {
                all[static_cast<std::size_t>(slot_of[i])] = static_cast<double>(i) / static_cast<double>(choices);
            }
        }
        for (double& source : all) {
            source = source < 0 ? -1.0 : static_cast<double>(static_cast<std::int64_t>(source));
        }
        return all;
    }
};

// The names are those of the operands that stand for x, others, out and dots.
Case take(const Slots& s, const char* x = "x", const char* others = "others", const char* out = "out",
          const char* dots = "dots") {
    std::vector<Operand> operands{
        {x, {s.tokens, s.columns}}, {"sources", {s.slots}, these(s.sources())}, {out, {s.slots, s.columns}}};
    if (s.weights) {
        operands.push_back({"weights", {s.slots}});
    }
    if (s.dots) {
        operands.push_back({others, {s.slots, s.columns}});
        operands.push_back({dots, {s.slots}});
    }
    const auto build = [=](const Operands& t) {
        return TakeTokens{.x = t[x],
                          .sources = t["sources"],
                          .weights = t.maybe("weights"),
                          .others = t.maybe(others),
                          .out = t[out],
                          .dots = t.maybe(dots)};
    };
    Case stated = make_case(s.title(), operands, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(std::max<std::int64_t>(s.columns, 1)));
}

Case mix(const Slots& s, const char* x = "x", const char* out = "out") {
    std::vector<Operand> operands{{x, {s.slots, s.columns}},
                                  {"slots", {s.tokens, s.choices}, these(s.slots_of_choices())},
                                  {out, {s.tokens, s.columns}}};
    if (s.weights) {
        operands.push_back({"weights", {s.slots}});
    }
    const auto build = [=](const Operands& t) {
        return MixExperts{
            .x = t[x], .slots = t["slots"], .weights = t.maybe("weights"), .out = t[out], .write = t.write(out)};
    };
    Case stated = make_case(s.title(), operands, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(s.choices));
}

std::vector<Routing> routings() {
    std::vector<Routing> all;
    for (const bool lengths : {false, true}) {
        all.push_back({{3, 5, 4}, 2, 15, lengths});           // as many slots as there are tokens
        all.push_back({{3, 5, 4}, 2, 3, lengths, true});      // choices without a slot
        all.push_back({{3, 33, 7}, 1, 9, lengths, true});     // one choice
        all.push_back({{2, 150, 2}, 2, 301, lengths});        // all experts, more slots than tokens
        all.push_back({{3, 300, 9}, 3, 200, lengths, true});  // more tokens than a workgroup has invocations
        all.push_back({{3, 40, 65}, 5, 4, lengths});
        all.push_back({{1, 1, 3}, 2, 1, lengths});
    }
    all.push_back({{3, 5, 4}, 2, 0});  // no room at all
    all.push_back({{0, 5, 4}, 2, 2, false, true});
    all.push_back({{2, 0, 4}, 2, 2, false, true});
    return all;
}

std::vector<Case> route_cases() {
    std::vector<Case> cases;
    for (const Routing& routing : routings()) {
        cases.push_back(route(routing));
    }
    cases.push_back(route({{3, 7, 5}, 3, 6}, integers(0, 2)).named("equal logits"));
    cases.push_back(route({{3, 7, 5}, 2, 6}, normal(60.0)).named("far apart"));
    return cases;
}

std::vector<Case> route_back_cases() {
    std::vector<Case> cases;
    for (const Routing& routing : routings()) {
        cases.push_back(route_backward(routing, false));
        cases.push_back(route_backward(routing, true));
    }
    return cases;
}

std::vector<Slots> all_slots() {
    std::vector<Slots> all;
    for (const std::int64_t columns : {1, 8, 33, 257}) {
        all.push_back({.tokens = 9, .slots = 24, .columns = columns});
        all.push_back({.tokens = 9, .slots = 11, .columns = columns});
    }
    all.push_back({.tokens = 40, .choices = 1, .slots = 48, .columns = 64});
    all.push_back({.tokens = 7, .choices = 3, .slots = 48, .columns = 516});
    all.push_back({.tokens = 0, .slots = 6, .columns = 8});
    all.push_back({.tokens = 6, .slots = 0, .columns = 8});
    all.push_back({.tokens = 6, .slots = 12, .columns = 0});
    return all;
}

std::vector<Case> take_cases() {
    std::vector<Case> cases;
    for (Slots s : all_slots()) {
        cases.push_back(take(s));
        s.weights = true;
        cases.push_back(take(s));
        s.dots = true;
        cases.push_back(take(s));
    }
    cases.push_back(take({.tokens = 40000, .slots = 79999, .columns = 3}).past_a_grid());
    return cases;
}

std::vector<Case> mix_cases() {
    std::vector<Case> cases;
    for (Slots s : all_slots()) {
        cases.push_back(mix(s));
        s.weights = true;
        cases.push_back(mix(s));
    }
    cases.push_back(mix({.tokens = 70000, .slots = 139999, .columns = 3}).past_a_grid());
    return cases;
}

// What is in no slot cannot spread, and a slot's NaN stays with its token.
std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    const Slots s{.tokens = 9, .slots = 11, .columns = 8, .weights = true, .dots = true};
    for (const double value : {kNan, kInfinity}) {
        cases.push_back(take(s).holding(value, "x", 3 * 8U + 1U));
        cases.push_back(take(s).holding(value, "x", 7 * 8U + 1U));  // in no slot
        cases.push_back(mix(s).holding(value, "x", 3 * 8U + 1U));
        cases.push_back(mix(s).holding(value, "x", 8 * 8U + 1U));  // of no token
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Routing& routing :
         {Routing{{3, 4, 5}, 2, 12}, Routing{{3, 4, 3}, 2, 3, true}, Routing{{2, 5, 4}, 1, 3, true}}) {
        all.push_back({route(routing), {route_backward(routing, true)}});
        all.push_back({route(routing), {route_backward(routing, false)}});
    }
    const Slots plain{.tokens = 9, .slots = 24, .columns = 5};
    Slots weighted = plain;
    weighted.weights = true;
    Slots both = weighted;
    both.dots = true;
    all.push_back({take(plain), {mix(plain, "grad_out", "grad_x")}});
    all.push_back({mix(weighted), {take(both, "grad_out", "x", "grad_x", "grad_weights")}});
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    constexpr std::int64_t kExperts = 8;
    const Routing routing{{work.sentences, work.length, kExperts}, 2, work.rows() / 2, true};
    const Slots s{work.rows(), 2, kExperts * routing.capacity, work.d_model, true, true};
    const std::string name = fmt::format("{}x{}, {} experts", work.rows(), work.d_model, kExperts);
    return {route(routing).named(name), route_backward(routing, true).named(name), take(s).named(name),
            mix(s).named(name)};
}

}  // namespace

Family family() {
    return {.name = "experts",
            .groups =
                {
                    {"routes", "choices, their weights, and slots with and without a limit", route_cases},
                    {"routes-back", "the backward of routing", route_back_cases},
                    {"taken", "tokens in the slots of experts, and products with them", take_cases},
                    {"mixed", "weighted sums of what experts made of a token", mix_cases},
                    {"special-values", "NaN and infinity stay with their token", special_values_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::experts_cases
