// Rotate.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "backend/ops/rotary.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::rotary_cases {

namespace {

struct Turning {
    Shape x;
    std::int64_t positions;
    std::int64_t pairs;
    double first = -1.0;  // below 0 there is no such operand
    bool neighbours = false;
    bool inverse = false;
};

Case rotate(const Turning& turning, const char* from = "x", const char* to = "out") {
    const auto build = [=](const Operands& t) {
        return Rotate{.x = t[from],
                      .turns = t["turns"],
                      .first = t.maybe("first"),
                      .out = t[to],
                      .neighbours = turning.neighbours,
                      .inverse = turning.inverse};
    };
    std::vector<Operand> operands{
        {from, turning.x}, {"turns", {turning.positions, 2, turning.pairs}, uniform(-1.0, 1.0)}, {to, turning.x}};
    std::string name = fmt::format("{} {} of {}{}{}", turning.x.to_string(), turning.pairs, turning.positions,
                                   turning.neighbours ? " neighbours" : "", turning.inverse ? " back" : "");
    if (turning.first >= 0.0) {
        operands.push_back({"first", {1}, these({turning.first})});
        name += fmt::format(" from {}", turning.first);
    }
    return make_case(std::move(name), std::move(operands), build).cancels(1.0);  // a c - b s
}

// Both layouts of pairs, there and back.
std::vector<Case> in_all_ways(const std::vector<Turning>& turnings) {
    std::vector<Case> cases;
    for (Turning turning : turnings) {
        for (const bool neighbours : {false, true}) {
            for (const bool inverse : {false, true}) {
                turning.neighbours = neighbours;
                turning.inverse = inverse;
                cases.push_back(rotate(turning));
            }
        }
    }
    return cases;
}

std::vector<Case> whole_cases() {
    return in_all_ways({{{1, 1, 1, 2}, 1, 1},
                        {{2, 3, 5, 6}, 7, 3},
                        {{2, 3, 5, 8}, 5, 4},
                        {{3, 4, 33, 64}, 40, 32},
                        {{2, 2, 9, 10}, 9, 5},
                        {{1, 2, 3, 256}, 4, 128},
                        {{2, 0, 3, 8}, 4, 4},
                        {{2, 3, 0, 8}, 4, 4}});
}

std::vector<Case> partial_cases() {
    return in_all_ways({{{2, 3, 5, 7}, 5, 3}, {{2, 3, 5, 16}, 6, 4}, {{2, 1, 4, 80}, 4, 16}, {{1, 2, 3, 5}, 3, 0}});
}

std::vector<Case> later_cases() {
    return in_all_ways({{{2, 3, 1, 8}, 20, 4, 19.0}, {{1, 2, 4, 12}, 9, 5, 5.0}, {{2, 2, 3, 64}, 300, 32, 256.0}});
}

std::vector<Case> outside_cases() {
    return {rotate({{2, 3, 4, 8}, 3, 4}),                    // the last position is past the table
            rotate({{2, 3, 4, 10}, 9, 4, 7.0, true}),        // the last two are
            rotate({{1, 2, 3, 8}, 4, 4, 2147483647.0}),      // a sum that would overflow
            rotate({{1, 2, 3, 8}, 0, 4, 1.0, true, true})};  // there is none
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity}) {
        cases.push_back(rotate({{1, 2, 3, 10}, 3, 4}).holding(value, "x", 21));
        cases.push_back(rotate({{1, 2, 3, 10}, 3, 4, -1.0, true}).holding(value, "x", 29));  // is copied
    }
    return cases;
}

std::vector<Case> many_rows_cases() {
    return {rotate({{3, 70000, 2, 4}, 2, 2}).past_a_grid()};
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const bool neighbours : {false, true}) {
        for (const bool inverse : {false, true}) {
            const Turning turning{{2, 3, 4, 7}, 9, 3, 2.0, neighbours, inverse};
            Turning back = turning;
            back.inverse = !inverse;
            all.push_back({rotate(turning), {rotate(back, "grad_out", "grad_x")}, {}, {"turns"}});
        }
    }
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Turning whole{{work.sentences, 2 * work.heads, work.length, work.d_k()}, work.length, work.d_k() / 2};
    const Turning one{{work.sentences, 2 * work.heads, 1, work.d_k()}, work.length, work.d_k() / 2, 1.0};
    return {rotate(whole).named("queries and keys"), rotate(one).named("of one token")};
}

}  // namespace

Family family() {
    return {.name = "rotary",
            .groups =
                {
                    {"whole", "all columns turned, there and back", whole_cases},
                    {"partial", "some columns turned and the others copied", partial_cases},
                    {"later", "positions that begin behind the cached ones", later_cases},
                    {"outside", "positions past the table", outside_cases},
                    {"special-values", "NaN and infinity spread within a pair", special_values_cases},
                    {"many-rows", "more rows than a grid has workgroups", many_rows_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance::rotary_cases
