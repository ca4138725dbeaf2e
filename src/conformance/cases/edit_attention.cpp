// EditAttention.
#include <fmt/format.h>

#include <limits>

#include "conformance/cases/masks.h"

#include "backend/ops/attention.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::edit_attention_cases {

namespace {

// All rules, in an order that does not repeat with heads or queries: constants, allowed and forbidden keys, a key out
// of range, and unknown numbers.
Case edit_attention(const Shape& shape, const Rule& rule) {
    return make_case(fmt::format("{}{}", shape.to_string(), rule.title()),
                     with_mask({{"weights", shape, uniform(0.0, 1.0)},
                                {"rules",
                                 {shape[1], shape[2]},
                                 these({EditAttention::kUniform, 0, EditAttention::kOff, EditAttention::kKeep, 2,
                                        EditAttention::kUniform, 1, 32, -4, 256, 1000000})},
                                {"out", shape}},
                               rule, shape),
                     [=](const Operands& t) {
                         return EditAttention{t["weights"], t["rules"], t["out"], mask_of(t, rule)};
                     });
}

std::vector<Case> edited_cases() {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        for (const Rule& rule : rules()) {
            cases.push_back(edit_attention(shape, rule));
        }
    }
    cases.push_back(edit_attention({4, 8, 3000, 2}, {.causal = true}));
    // Replaced values are gone, whatever they were; kept ones stay.
    Case garbage = edit_attention({2, 3, 5, 7}, {.lengths = true});
    garbage.name += " over NaN";
    garbage.operands[0].values = these({kNan});
    cases.push_back(garbage);
    return cases;
}

std::vector<Case> speeds(const Workload& work) {
    const Shape weights{work.sentences, work.heads, work.length, work.length};
    return {
        edit_attention(weights, {}).named(fmt::format("{}x{}x{}x{}", weights[0], weights[1], weights[2], weights[3]))};
}

}  // namespace

Family family() {
    return {.name = "edit_attention",
            .groups =
                {
                    {"edited", "edited attention", edited_cases},
                },
            .speeds = speeds};
}

}  // namespace headscope::conformance::edit_attention_cases
