// EditAttention.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>

#include "harness.h"
#include "masks.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// Every rule there is, in an order that no number of heads or queries falls in with: names, keys that the masks allow
// and forbid, a key that no sentence has, and numbers that mean nothing.
Case edit_attention(const Shape& shape, const Rule& rule) {
    return make_case(fmt::format("{}{}", shape.to_string(), rule.title()),
                     with_mask({in("weights", shape).filled(uniform(0.0, 1.0)),
                                indices("rules", {shape[1], shape[2]},
                                        these({EditAttention::kUniform, 0, EditAttention::kOff, EditAttention::kKeep, 2,
                                               EditAttention::kUniform, 1, 32, -4, 256, 1000000})),
                                out("out", shape)},
                               rule, shape[0]),
                     [=](const Operands& t) {
                         return EditAttention{t["weights"], t["rules"], t["out"], mask_of(t, rule)};
                     })
        .may_be("out", "weights");
}

}  // namespace

TEST_CASE("edited attention agrees with the oracle", "[attention]") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        for (const Rule& rule : rules()) {
            cases.push_back(edit_attention(shape, rule));
        }
    }
    cases.push_back(edit_attention({4, 8, 3000, 2}, {.causal = true}));
    // What is edited away is gone, whatever it was; what is kept is kept.
    Case garbage = edit_attention({2, 3, 5, 7}, {.lengths = true});
    garbage.name += " over NaN";
    garbage.operands[0].values = these({kNan});
    cases.push_back(garbage);
    check_on_every_device(cases);
}

// The oracle shares no code with this.
TEST_CASE("edited attention in numbers worked out by hand", "[attention][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    // Two sentences, of which the second has one key; one head; five queries over four keys, causal from the second
    // key.
    const Tensor weights = make_from_host(*oracle, {2, 1, 5, 4}, oracle->real(), Values(40, 0.25));
    const auto integers_of = [&](const Shape& shape, const std::vector<std::int32_t>& values) {
        return make_from_host(*oracle, shape, DType::I32, values);
    };
    using E = EditAttention;
    oracle->run(
        E{.weights = weights,
          .rules = integers_of({1, 5}, {E::kUniform, E::kUniform, E::kOff, 3, E::kKeep}),
          .out = weights,
          .mask = {.key_lengths = integers_of({2}, {4, 1}), .causal = true, .query_offset = integers_of({1}, {1})}});
    const double third = 1.0 / 3.0;
    CHECK(to_host<double>(*oracle, weights) == Values{0.5,   0.5,   0,     0,     //
                                                      third, third, third, 0,     //
                                                      0,     0,     0,     0,     //
                                                      0,     0,     0,     1,     //
                                                      0.25,  0.25,  0.25,  0.25,  //
                                                      1,     0,     0,     0,     //
                                                      1,     0,     0,     0,     //
                                                      0,     0,     0,     0,     //
                                                      0,     0,     0,     0,     // the second sentence has no key 3
                                                      0.25,  0.25,  0.25,  0.25});
}
