#include "conformance/cases/attention_ops.h"

#include <fmt/format.h>

#include "backend/ops/attention.h"

namespace headscope::conformance {

Case softmax(const Shape& shape, const Rule& rule, double spread) {
    return make_case(fmt::format("{} spread {}{}", shape.to_string(), spread, rule.title()),
                     with_mask({{"scores", shape, normal(spread)}, {"weights", shape}}, rule, shape),
                     [=](const Operands& t) {
                         return MaskedSoftmax{t["scores"], t["weights"], mask_of(t, rule)};
                     })
        .sums(static_cast<double>(shape[3]));
}

Case softmax_by_distance(const Shape& shape, std::int64_t farthest, const Rule& rule) {
    return make_case(fmt::format("{} by {} distances{}", shape.to_string(), 2 * farthest + 1, rule.title()),
                     with_mask({{"scores", shape, normal(2.0)},
                                {"by_distance", {2 * farthest + 1, shape[1]}, normal(2.0)},
                                {"weights", shape}},
                               rule, shape),
                     [=](const Operands& t) {
                         return MaskedSoftmax{t["scores"], t["weights"], mask_of(t, rule), t["by_distance"]};
                     })
        .sums(static_cast<double>(shape[3]));
}

Case sum_diagonals(const Shape& shape) {
    const auto build = [](const Operands& t) { return SumDiagonals{t["x"], t["sums"]}; };
    Case stated =
        make_case(shape.to_string(),
                  {{"x", shape}, {"sums", {shape[0], SumDiagonals::count(shape[2], shape[3]), shape[1]}}}, build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(std::min(shape[2], shape[3])));
}

Case softmax_backward(const Shape& shape) {
    return make_case(shape.to_string(),
                     {{"weights", shape, uniform(0.0, 1.0)}, {"grad_weights", shape}, {"grad_scores", shape}},
                     [](const Operands& t) {
                         return MaskedSoftmaxBackward{t["weights"], t["grad_weights"], t["grad_scores"],
                                                      t.write("grad_scores")};
                     })
        .sums(static_cast<double>(shape[3]));
}

Case cache_append(const Shape& shape, std::int64_t capacity, std::int64_t position) {
    const Shape cache{shape[0], shape[1], capacity, shape[3]};
    return make_case(
        fmt::format("{} at {} of {}", shape.to_string(), position, capacity),
        {{"x", shape}, {"position", {1}, these({static_cast<double>(position)})}, Operand("cache", cache).exact()},
        [](const Operands& t) {
            return CacheAppend{t["x"], t["position"], t["cache"]};
        });
}

Case mask_keys(const Heads& size, const Rule& rule) {
    return make_case(
        fmt::format("{} of {}{}", size.k().to_string(), size.queries, rule.title()),
        with_mask({with_unseen_garbage(Operand("x", size.k()), rule, size.queries), Operand("out", size.k()).exact()},
                  rule, size.weights()),
        [=](const Operands& t) {
            return MaskKeys{t["x"], t["out"], mask_of(t, rule), size.queries};
        });
}

}  // namespace headscope::conformance
