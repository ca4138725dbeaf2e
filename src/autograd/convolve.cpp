// Convolutions along positions, by the ops that gather neighbours and sum them.
#include "autograd/functions.h"
#include "backend/ops/bias.h"
#include "backend/ops/convolution.h"
#include "backend/ops/elementwise.h"

namespace headscope {

namespace {

Tensor flat_rows(const Tensor& x) {
    return x.reshape({x.dim(0) * x.dim(1), x.dim(2)});
}

Tensor unfolded(Backend& backend, const Tensor& x, const Neighbours& n) {
    const Tensor out = backend.empty({x.dim(0), n.positions, n.taps * x.dim(2)}, x.dtype);
    backend.run(Unfold{.x = x,
                       .lengths = n.lengths,
                       .ranges = n.ranges,
                       .out = out,
                       .taps = n.taps,
                       .first = n.first,
                       .step = n.step});
    return out;
}

SumTaps sum_of(const Tensor& x, const Tensor& weights, const Tensor& out, const Neighbours& n) {
    return {.x = x,
            .weights = weights,
            .lengths = n.lengths,
            .ranges = n.ranges,
            .out = out,
            .taps = n.taps,
            .first = n.first,
            .step = n.step};
}

// Adds the gradient that reaches x through its taps: those of the result's positions, seen from their other end.
void turned_sum(Backend& backend, const Var& x, const Tensor& weights, const Tensor& grad, Neighbours n) {
    if (!x.requires_grad()) {
        return;
    }
    n.first = -n.first;
    n.step = -n.step;
    const GradientTarget to = x.gradient_target(backend);
    SumTaps op = sum_of(grad, weights, to.tensor, n);
    op.write = to.write;
    backend.run(op);
}

}  // namespace

Var unfold(Context& ctx, const Var& x, const Neighbours& neighbours) {
    const bool recorded = ctx.tape != nullptr && x.requires_grad();
    Var y(unfolded(ctx.backend, x.value(), neighbours), recorded);
    if (recorded) {
        ctx.tape->record("unfold", {}, [x = x.without_value(), y = y.without_value(), neighbours](Backend& backend) {
            turned_sum(backend, x, Tensor(), y.gradient(), neighbours);
        });
    }
    return y;
}

Var depthwise(Context& ctx, const Var& x, const Var& weights, const Neighbours& neighbours) {
    const Tensor& in = x.value();
    const Tensor out = ctx.backend.empty({in.dim(0), neighbours.positions, in.dim(2)}, in.dtype);
    ctx.backend.run(sum_of(in, weights.value(), out, neighbours));
    const bool recorded = ctx.tape != nullptr && (x.requires_grad() || weights.requires_grad());
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("depthwise", {weights}, [x, weights, y = y.without_value(), neighbours](Backend& backend) {
            const Tensor grad = y.gradient();
            if (weights.requires_grad()) {
                const std::int64_t taps = neighbours.taps;
                const Tensor products = flat_rows(unfolded(backend, x.value(), neighbours));
                const Tensor each = products.split(1, weights.shape()[1]);
                backend.run(Multiply{.a = each, .b = flat_rows(grad).repeat(1, taps), .out = each});
                const GradientTarget to = weights.gradient_target(backend);
                backend.run(
                    SumRows{.x = products, .out = to.tensor.reshape({weights.shape().elements()}), .write = to.write});
            }
            turned_sum(backend, x, weights.value(), grad, neighbours);
        });
    }
    return y;
}

}  // namespace headscope
