// EditAttention in numbers.
#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "conformance/case.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

// The oracle shares no code with this.
TEST_CASE("edited attention equals numbers computed by hand", "[attention][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    // Two sentences, of which the second has one key; one head; five queries over four keys, causal from the second
    // key.
    const Tensor weights = make_from_host(*oracle, {2, 1, 5, 4}, oracle->full_dtype(), Values(40, 0.25));
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
