// A residual addition by itself, and the batch norm of its sum.
#include <utility>

#include "autograd/aim.h"
#include "autograd/functions.h"
#include "backend/ops/batch_norm.h"
#include "backend/ops/elementwise.h"

namespace headscope {

Var add_spending(Context& ctx, const Var& a, const Var& b) {
    const Tensor sum = a.value();
    ctx.backend.run(AddScaled{.a = sum, .b = b.value(), .out = sum});
    const bool recorded = ctx.tape != nullptr && (a.requires_grad() || b.requires_grad());
    Var y(sum, recorded);
    if (recorded) {
        ctx.tape->record("add", {},
                         [a = a.without_value(), b = b.without_value(), y = y.without_value()](Backend& backend) {
                             const Tensor grad = y.gradient();
                             if (b.requires_grad()) {
                                 const GradientTarget to = b.gradient_target(backend);
                                 backend.run(Copy{.x = grad, .out = to.tensor, .write = to.write});
                             }
                             if (a.requires_grad()) {
                                 a.add_gradient(backend, grad);
                             }
                         });
    }
    return y;
}

Var batch_norm(Context& ctx, const Var& x, const BatchNormOperands& operands) {
    const Tensor& in = x.value();
    const Shape columns{in.dim(2)};
    const BatchNorm op{.x = in,
                       .lengths = operands.lengths,
                       .gain = operands.gain.value(),
                       .bias = operands.bias.value(),
                       .running_mean = operands.running_mean,
                       .running_variance = operands.running_variance,
                       .y = ctx.backend.empty(in.shape, in.dtype),
                       .mean = ctx.backend.empty(columns, ctx.backend.full_dtype()),
                       .rstd = ctx.backend.empty(columns, ctx.backend.full_dtype()),
                       .epsilon = operands.epsilon,
                       .measures = operands.measures};
    ctx.backend.run(op);
    const Var& gain = operands.gain;
    const Var& bias = operands.bias;
    const bool recorded = ctx.tape != nullptr && (x.requires_grad() || gain.requires_grad() || bias.requires_grad());
    Var y(op.y, recorded);
    if (recorded) {
        BatchNorm kept = op;
        kept.y = Tensor();
        auto backward = [x = x.without_value(), gain = gain.without_value(), bias = bias.without_value(),
                         y = y.without_value(), op = std::move(kept)](Backend& backend) {
            BatchNormBackward back{.x = op.x,
                                   .lengths = op.lengths,
                                   .gain = op.gain,
                                   .mean = op.mean,
                                   .rstd = op.rstd,
                                   .grad_y = y.gradient(),
                                   .grad_gain = {},
                                   .grad_bias = {},
                                   .measures = op.measures};
            aim(backend, x, back.grad_x, back.write_x);
            aim_always(backend, gain, back.grad_gain, back.write_gain);
            aim_always(backend, bias, back.grad_bias, back.write_bias);
            backend.run(back);
        };
        ctx.tape->record("batch_norm", {gain, bias}, std::move(backward));
    }
    return y;
}

}  // namespace headscope
