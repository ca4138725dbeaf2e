// The scores of additive attention.
#include "backend/ops/additive.h"
#include "autograd/aim.h"
#include "autograd/functions.h"
#include "backend/ops/bias.h"

namespace headscope {

namespace {

void additive_backward(Backend& backend, const Var& q, const Var& k, const Var& gain, const Tensor& grad) {
    const std::int64_t batch = q.shape()[0];
    const std::int64_t queries = q.shape()[2];
    const std::int64_t columns = gain.shape().elements();
    AdditiveScoresBackward op{
        .x = q.value(), .others = k.value(), .gain = gain.value(), .grad_scores = grad, .grad_x = {}};
    if (gain.requires_grad()) {
        op.products = backend.empty({batch, queries, gain.shape()[0], gain.shape()[1]}, backend.full_dtype());
    }
    if (q.requires_grad() || gain.requires_grad()) {
        op.grad_x = q.requires_grad() ? Tensor() : backend.empty(q.shape(), q.value().dtype);
        aim(backend, q, op.grad_x, op.write);
        backend.run(op);
    }
    if (gain.requires_grad()) {
        const GradientTarget to = gain.gradient_target(backend);
        backend.run(SumRows{.x = op.products.reshape({batch * queries, columns}),
                            .out = to.tensor.reshape({columns}),
                            .write = to.write});
    }
    if (k.requires_grad()) {
        AdditiveScoresBackward back{.x = k.value(),
                                    .others = q.value(),
                                    .gain = gain.value(),
                                    .grad_scores = grad,
                                    .grad_x = {},
                                    .of_keys = true};
        aim(backend, k, back.grad_x, back.write);
        backend.run(back);
    }
}

}  // namespace

Var additive_scores(Context& ctx, const Var& q, const Var& k, const Var& gain) {
    const Shape& size = q.shape();
    const Tensor out = ctx.backend.empty({size[0], size[1], size[2], k.shape()[2]}, q.value().dtype);
    ctx.backend.run(AdditiveScores{.q = q.value(), .k = k.value(), .gain = gain.value(), .scores = out});
    const bool recorded = ctx.tape != nullptr && (q.requires_grad() || k.requires_grad() || gain.requires_grad());
    Var scores(out, recorded);
    if (recorded) {
        ctx.tape->record("additive_scores", {gain}, [q, k, gain, scores = scores.without_value()](Backend& backend) {
            additive_backward(backend, q, k, gain, scores.gradient());
        });
    }
    return scores;
}

}  // namespace headscope
