#include "autograd/experts.h"

#include <utility>

#include "autograd/aim.h"
#include "autograd/weight_product.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/experts.h"
#include "backend/ops/matmul.h"

namespace headscope {

namespace {

Tensor rows_of(const Tensor& x) {
    return x.reshape({x.dim(0) * x.dim(1), x.dim(2)});
}

// The gradient of RouteTokens::sums: of the loss that balances experts, for each of its tokens.
Tensor balance_gradient(Backend& backend, const Regularisation& rates, const Tensor& shares) {
    if (rates.expert_balance == 0.0F) {
        return {};
    }
    const std::int64_t experts = shares.dim(0);
    const Tensor grad = backend.empty(shares.shape, shares.dtype);
    backend.run(AddScaled{.a = shares, .out = grad, .alpha = rates.expert_balance * static_cast<float>(experts)});
    if (rates.gradient_scale.defined()) {
        const Tensor column = grad.reshape({experts, 1});
        backend.run(Multiply{.a = column, .b = rates.gradient_scale.repeat(0, experts), .out = column});
    }
    return grad;
}

}  // namespace

Routes route(Context& ctx, const Var& logits, const Routing& routing) {
    const Shape& shape = logits.shape();
    const std::int64_t tokens = shape[0] * shape[1];
    const std::int64_t experts = shape[2];
    const DType real = ctx.backend.full_dtype();
    const Tensor& ordinals = ctx.regularisation.ordinals;
    const auto numbers = [&](const Shape& of) { return ctx.backend.empty(of, DType::I32); };
    const RouteTokens op{.logits = logits.value(),
                         .lengths = routing.lengths,
                         .ordinals = ordinals,
                         .probabilities = ctx.backend.empty(shape, real),
                         .chosen = numbers({shape[0], shape[1], routing.choices}),
                         .slots = numbers({shape[0], shape[1], routing.choices}),
                         .sources = numbers({experts, routing.capacity}),
                         .weights = ctx.backend.empty({experts, routing.capacity}, real),
                         .keys = ordinals.defined() ? numbers({experts, routing.capacity}) : Tensor(),
                         .shares = ctx.backend.empty({experts}, real),
                         .sums = ctx.backend.empty({experts}, real)};
    ctx.backend.run(op);
    const bool recorded = ctx.tape != nullptr && logits.requires_grad();
    const std::int64_t slots = experts * routing.capacity;
    const Routes routes{.weights = Var(op.weights, recorded),
                        .slots = op.slots.reshape({tokens, routing.choices}),
                        .sources = op.sources.reshape({slots}),
                        .keys = op.keys.defined() ? op.keys.reshape({slots}) : Tensor()};
    if (recorded) {
        RouteTokensBackward kept{.probabilities = op.probabilities,
                                 .lengths = op.lengths,
                                 .chosen = op.chosen,
                                 .slots = op.slots,
                                 .grad_weights = {},
                                 .grad_logits = {}};
        auto backward = [logits = logits.without_value(), weights = routes.weights.without_value(), shares = op.shares,
                         rates = ctx.regularisation, back = std::move(kept)](Backend& backend) {
            RouteTokensBackward run = back;
            run.grad_weights = weights.gradient();
            run.grad_sums = balance_gradient(backend, rates, shares);
            const GradientTarget to = logits.gradient_target(backend);
            run.grad_logits = to.tensor;
            run.write = to.write;
            backend.run(run);
        };
        ctx.tape->record("route", {}, std::move(backward));
    }
    return routes;
}

Var take_tokens(Context& ctx, const Var& x, const Routes& routes) {
    const std::int64_t columns = x.shape()[2];
    const Shape& slots = routes.weights.shape();
    const Tensor out = ctx.backend.empty({slots[0], slots[1], columns}, x.value().dtype);
    ctx.backend.run(TakeTokens{.x = rows_of(x.value()), .sources = routes.sources, .out = rows_of(out)});
    const bool recorded = ctx.tape != nullptr && x.requires_grad();
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record(
            "take_tokens", {}, [x = x.without_value(), y = y.without_value(), to = routes.slots](Backend& backend) {
                const GradientTarget target = x.gradient_target(backend);
                backend.run(MixExperts{
                    .x = rows_of(y.gradient()), .slots = to, .out = rows_of(target.tensor), .write = target.write});
            });
    }
    return y;
}

Var mix_experts(Context& ctx, const Var& x, const Routes& routes, const Shape& shape) {
    const auto of_slots = [](const Tensor& tensor) { return tensor.reshape({tensor.elements()}); };
    const Tensor out = ctx.backend.empty(shape, x.value().dtype);
    ctx.backend.run(MixExperts{.x = rows_of(x.value()),
                               .slots = routes.slots,
                               .weights = of_slots(routes.weights.value()),
                               .out = rows_of(out)});
    const bool recorded = ctx.tape != nullptr && (x.requires_grad() || routes.weights.requires_grad());
    Var y(out, recorded);
    if (recorded) {
        auto backward = [x, weights = routes.weights, sources = routes.sources, y = y.without_value(),
                         of_slots](Backend& backend) {
            const Tensor grad = backend.empty(x.shape(), x.value().dtype);
            const Tensor dots = backend.empty(weights.shape(), weights.value().dtype);
            backend.run(TakeTokens{.x = rows_of(y.gradient()),
                                   .sources = sources,
                                   .weights = of_slots(weights.value()),
                                   .others = rows_of(x.value()),
                                   .out = rows_of(grad),
                                   .dots = of_slots(dots)});
            for (const auto& [to, found] : {std::pair{&x, &grad}, std::pair{&weights, &dots}}) {
                if (to->requires_grad()) {
                    to->add_gradient(backend, *found);
                }
            }
        };
        ctx.tape->record("mix_experts", {}, std::move(backward));
    }
    return y;
}

namespace {

// out = out * beta + x . W^T for each expert; a weight that is narrower than x is multiplied one expert after the
// other.
void multiply_experts(Context& ctx, const Var& x, const Var& weight, const Tensor& out, float beta) {
    const std::int64_t experts = out.dim(0);
    const std::int64_t rows = out.dim(2);
    const Tensor& in = x.value();
    if (weight.value().dtype == in.dtype && weight.value().layout == WeightLayout::Rows) {
        ctx.backend.run(Matmul{.a = in,
                               .b = weight.value().reshape({experts, rows, in.dim(2)}),
                               .out = out,
                               .transpose_b = true,
                               .beta = beta,
                               .compute = ctx.compute});
        return;
    }
    for (std::int64_t e = 0; e < experts; ++e) {
        const auto matrix = [&](const Tensor& of) { return rows_of(of.narrow(0, e, 1)); };
        multiply(ctx, {.x = matrix(in), .weight = weight.narrow(0, e * rows, rows), .out = matrix(out), .beta = beta});
    }
}

void expert_linear_backward(Backend& backend, const Var& x, const Var& weight, const Var& bias, const Tensor& grad,
                            Compute compute) {
    const std::int64_t experts = grad.dim(0);
    const std::int64_t rows = grad.dim(2);
    if (bias.requires_grad()) {
        const GradientTarget to = bias.gradient_target(backend);
        for (std::int64_t e = 0; e < experts; ++e) {
            backend.run(SumRows{
                .x = rows_of(grad.narrow(0, e, 1)), .out = to.tensor.narrow(0, e * rows, rows), .write = to.write});
        }
    }
    if (weight.requires_grad()) {
        const GradientTarget to = weight.gradient_target(backend);
        backend.run(Matmul{.a = grad,
                           .b = x.value(),
                           .out = to.tensor.reshape({experts, rows, x.shape()[2]}),
                           .transpose_a = true,
                           .beta = beta_for(to.write),
                           .compute = compute});
    }
    if (x.requires_grad()) {
        const GradientTarget to = x.gradient_target(backend);
        const Tensor numbers = numbers_of(backend, weight);
        for (std::int64_t e = 0; e < experts && numbers.layout == WeightLayout::Panels; ++e) {
            backend.run(Matmul{.a = rows_of(grad.narrow(0, e, 1)),
                               .b = numbers.narrow(0, e * rows, rows),
                               .out = rows_of(to.tensor.narrow(0, e, 1)),
                               .beta = beta_for(to.write),
                               .compute = compute});
        }
        if (numbers.layout == WeightLayout::Rows) {
            backend.run(Matmul{.a = grad,
                               .b = numbers.reshape({experts, rows, x.shape()[2]}),
                               .out = to.tensor,
                               .beta = beta_for(to.write),
                               .compute = compute});
        }
    }
}

}  // namespace

Var expert_linear(Context& ctx, const Var& x, const Var& weight, const Var& bias) {
    const std::int64_t experts = x.shape()[0];
    const std::int64_t capacity = x.shape()[1];
    const std::int64_t rows = weight.shape()[0] / experts;
    const Tensor out = ctx.backend.empty({experts, capacity, rows}, x.value().dtype);
    if (bias.defined()) {
        ctx.backend.run(Copy{.x = bias.value().reshape({experts, rows}).repeat(1, capacity), .out = out});
    }
    multiply_experts(ctx, x, weight, out, bias.defined() ? 1.0F : 0.0F);
    const bool recorded = ctx.tape != nullptr && (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
    Var y(out, recorded);
    if (recorded) {
        auto backward = [x, weight, bias, y = y.without_value(), compute = ctx.compute](Backend& backend) {
            expert_linear_backward(backend, x, weight, bias, y.gradient(), compute);
        };
        ctx.tape->record("expert_linear", {weight, bias}, std::move(backward));
    }
    return y;
}

Var converted(Context& ctx, const Var& x, DType dtype) {
    if (x.value().dtype == dtype) {
        return x;
    }
    const Tensor out = ctx.backend.empty(x.shape(), dtype);
    ctx.backend.run(Copy{.x = x.value(), .out = out});
    const bool recorded = ctx.tape != nullptr && x.requires_grad();
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("converted", {}, [x = x.without_value(), y = y.without_value()](Backend& backend) {
            const GradientTarget to = x.gradient_target(backend);
            backend.run(Copy{.x = y.gradient(), .out = to.tensor, .write = to.write});
        });
    }
    return y;
}

}  // namespace headscope
