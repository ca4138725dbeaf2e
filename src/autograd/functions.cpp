#include "autograd/functions.h"

#include <utility>

#include "autograd/aim.h"
#include "autograd/weight_product.h"
#include "backend/ops/bias.h"
#include "backend/ops/blocks.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/matmul.h"
#include "backend/precision.h"
#include "support/check.h"

namespace headscope {

namespace {

bool records(const Context& ctx, std::initializer_list<const Var*> inputs) {
    if (ctx.tape == nullptr) {
        return false;
    }
    for (const Var* input : inputs) {
        if (input->requires_grad()) {
            return true;
        }
    }
    return false;
}

Tensor as_matrix(const Tensor& x) {
    const std::int64_t columns = x.dim(-1);
    return x.reshape({columns == 0 ? 0 : x.elements() / columns, columns});
}

Var dropout_to(Context& ctx, const Var& x, const DropoutRule& rule, const Tensor& out) {
    ctx.backend.run(Dropout{.x = x.value(), .y = out, .rule = rule});
    const bool recorded = records(ctx, {&x});
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("dropout", {}, [x = x.without_value(), y = y.without_value(), rule](Backend& backend) {
            const Tensor grad = y.gradient();
            backend.run(Dropout{.x = grad, .y = grad, .rule = rule});
            x.add_gradient(backend, grad);
        });
    }
    return y;
}

// For x . W^T, [.., out].
Tensor empty_product(Context& ctx, const Var& x, const Var& weight) {
    Shape shape = x.shape();
    shape.set(-1, weight.shape()[0]);
    return ctx.backend.empty(shape, x.value().dtype);
}

// dx = alpha dy . W, dW = alpha dy^T . x
void linear_backward(Backend& backend, const Var& x, const Var& weight, const Tensor& grad, Compute compute,
                     float alpha = 1.0F) {
    if (weight.requires_grad()) {
        const GradientTarget to = weight.gradient_target(backend);
        backend.run(Matmul{.a = as_matrix(grad),
                           .b = as_matrix(x.value()),
                           .out = to.tensor,
                           .transpose_a = true,
                           .alpha = alpha,
                           .beta = beta_for(to.write),
                           .compute = compute});
    }
    if (x.requires_grad()) {
        const GradientTarget to = x.gradient_target(backend);
        backend.run(Matmul{.a = as_matrix(grad),
                           .b = numbers_of(backend, weight),
                           .out = as_matrix(to.tensor),
                           .alpha = alpha,
                           .beta = beta_for(to.write),
                           .compute = compute});
    }
}

// The gradient of a bias that was added to make y, unless what wrote y's gradient has written it, too.
void bias_backward(Backend& backend, const Var& bias, const Var& y) {
    if (bias.requires_grad() && !y.has_sums()) {
        const GradientTarget to = bias.gradient_target(backend);
        backend.run(SumRows{.x = as_matrix(y.gradient()), .out = to.tensor, .write = to.write});
    }
}

// The gradient of an activation's input in place of that of y, and of the bias that was added to make the input.
void activation_backward(Backend& backend, const Var& bias, BiasActivationBackward back) {
    aim(backend, bias, back.sums, back.write_sums);
    backend.run(back);
}

// The bias as the activations are stored, if there is a copy of it.
Tensor rounded_bias(const Var& bias, const Tensor& x) {
    const bool rounded = bias.defined() && bias.rounded().defined() && bias.rounded().dtype == x.dtype;
    return rounded ? bias.rounded() : Tensor();
}

// Rows of a table in blocks, to which the positions are added.
Tensor embed_blocks(Context& ctx, const EmbedOperands& operands) {
    const Tensor& ids = operands.ids;
    const DType real = ctx.backend.full_dtype();
    const Tensor out = ctx.backend.empty({ids.dim(0), ids.dim(1), operands.table.shape()[1]}, real);
    ctx.backend.run(BlockEmbed{.ids = ids,
                               .codes = operands.table.value(),
                               .scales = operands.table.scales(),
                               .out = out,
                               .scale = operands.scale});
    if (operands.positions.defined()) {
        const Tensor none = ctx.backend.empty(ids.shape, DType::I32);
        ctx.backend.run(Fill{.out = none, .value = static_cast<float>(Embed::kNoToken)});
        const Tensor& positions = operands.positions.value();
        const Tensor added = ctx.backend.empty(out.shape, real);
        ctx.backend.run(
            Embed{.ids = none, .table = positions, .positions = positions, .first = operands.first, .out = added});
        ctx.backend.run(AddScaled{.a = out, .b = added, .out = out});
    }
    return out;
}

void embed_backward(Backend& backend, const EmbedOperands& operands, const Tensor& grad) {
    if (operands.table.requires_grad()) {
        const GradientTarget table = operands.table.gradient_target(backend);
        // Activations that serve as a table have gradients in 16 bits, but sums are at least F32.
        const bool rounded = table.tensor.dtype != backend.full_dtype();
        const Tensor sums = rounded ? backend.empty(table.tensor.shape, backend.full_dtype()) : table.tensor;
        backend.run(EmbedBackward{.ids = operands.ids,
                                  .order = operands.order,
                                  .grad_out = grad,
                                  .grad_table = sums,
                                  .scale = operands.scale,
                                  .write = rounded ? Write::Overwrite : table.write});
        if (rounded) {
            backend.run(Copy{.x = sums, .out = table.tensor, .write = table.write});
        }
    }
    if (operands.positions.requires_grad()) {
        // Row i is the sum over the batch. Rows past the length get no gradient but must be set to 0 by the first
        // write.
        const GradientTarget table = operands.positions.gradient_target(backend);
        if (table.write == Write::Overwrite) {
            backend.run(Fill{.out = table.tensor, .value = 0.0F});
        }
        const std::int64_t batch = grad.dim(0);
        const std::int64_t length = grad.dim(1);
        const std::int64_t columns = length * grad.dim(2);
        backend.run(SumRows{.x = grad.reshape({batch, columns}),
                            .out = table.tensor.narrow(0, 0, length).reshape({columns}),
                            .write = Write::Accumulate});
    }
}

}  // namespace

DropoutRule dropout_rule(const Context& ctx, float rate, std::uint32_t site) {
    const Regularisation& rates = ctx.regularisation;
    if (!rates.step.defined() || rate == 0.0F) {
        return {};
    }
    return {.rate = rate, .seed = rates.seed, .site = site, .step = rates.step, .ordinals = rates.ordinals};
}

Var linear(Context& ctx, const Var& x, const Var& weight, float alpha) {
    const Tensor out = empty_product(ctx, x, weight);
    multiply(ctx, {.x = as_matrix(x.value()), .weight = weight, .out = as_matrix(out), .alpha = alpha});
    const bool recorded = records(ctx, {&x, &weight});
    Var y(out, recorded);
    if (recorded) {
        auto backward = [x, weight, y = y.without_value(), compute = ctx.compute, alpha](Backend& backend) {
            linear_backward(backend, x, weight, y.gradient(), compute, alpha);
        };
        ctx.tape->record("linear", {weight}, std::move(backward));
    }
    return y;
}

Var bias_activation(Context& ctx, const Var& x, const Var& bias, Activation activation, const DropoutRule& rule) {
    if (!bias.defined() && activation == Activation::None && rule.rate == 0.0F) {
        return x;
    }
    const bool keeps_x = !works_in_place(activation);
    const Tensor out = keeps_x ? ctx.backend.empty(x.shape(), x.value().dtype) : x.value();
    const Tensor bias_value = bias.defined() ? bias.value() : Tensor();
    ctx.backend.run(
        BiasActivation{.x = x.value(), .bias = bias_value, .y = out, .activation = activation, .dropout = rule});
    const bool recorded = records(ctx, {&x, &bias});
    Var y(out, recorded);
    if (recorded) {
        const bool identity = activation == Activation::None && rule.rate == 0.0F;
        const Tensor seen = identity ? Tensor() : keeps_x ? x.value() : out;
        if (identity && bias.requires_grad()) {
            y.sums_are_gradient_of(bias);
        }
        auto backward = [x = x.without_value(), bias, y = y.without_value(), seen, keeps_x, activation,
                         rule](Backend& backend) {
            const Tensor grad = y.gradient();  // becomes the gradient of x + bias in place
            if (seen.defined()) {
                activation_backward(backend, bias,
                                    {.x = seen,
                                     .bias = keeps_x && bias.defined() ? bias.value() : Tensor(),
                                     .grad_y = grad,
                                     .grad_x = grad,
                                     .activation = activation,
                                     .dropout = rule});
            } else {
                bias_backward(backend, bias, y);
            }
            if (x.requires_grad()) {
                x.add_gradient(backend, grad);
            }
        };
        ctx.tape->record("bias_activation", {bias}, std::move(backward));
    }
    return y;
}

Var linear_activation(Context& ctx, const Var& x, const Var& weight, const Var& bias, Activation activation,
                      const DropoutRule& rule) {
    const bool relu = activation == Activation::Relu;
    const bool one_op = (relu || (activation == Activation::None && bias.defined())) && rule.rate == 0.0F &&
                        !weight.is_in_blocks() &&
                        ctx.backend.support(OpId::Linear, x.value().dtype).level == SupportLevel::Native;
    if (!one_op) {
        return bias_activation(ctx, linear(ctx, x, weight), bias, activation, rule);
    }
    const Tensor out = empty_product(ctx, x, weight);
    ctx.backend.run(Linear{.x = as_matrix(x.value()),
                           .weight = weight.value(),
                           .bias = bias.defined() ? bias.value() : Tensor(),
                           .y = as_matrix(out),
                           .activation = activation,
                           .compute = ctx.compute,
                           .weight_scales = weight.scales(),
                           .rounded_bias = rounded_bias(bias, x.value())});
    const bool recorded = records(ctx, {&x, &weight, &bias});
    Var y(out, recorded);
    if (recorded) {
        if (!relu && bias.requires_grad()) {
            y.sums_are_gradient_of(bias);
        }
        auto backward = [x, weight, bias, y = y.without_value(), seen = relu ? out : Tensor(),
                         compute = ctx.compute](Backend& backend) {
            const Tensor grad = y.gradient();  // becomes the gradient of x . W^T + bias in place
            if (seen.defined()) {              // whose sign is that of the result
                activation_backward(backend, bias,
                                    {.x = seen, .grad_y = grad, .grad_x = grad, .activation = Activation::Relu});
            } else {
                bias_backward(backend, bias, y);
            }
            linear_backward(backend, x, weight, grad, compute);
        };
        ctx.tape->record("linear_activation", {weight, bias}, std::move(backward));
    }
    return y;
}

Normed add_layer_norm(Context& ctx, const Var& x, const Var& residual, const Var& gain, const Var& bias, float epsilon,
                      const DropoutRule& rule, NormType type) {
    const Tensor& in = x.value();
    const Shape rows{in.dim(0), in.dim(1)};
    AddLayerNorm op{.x = in,
                    .residual = residual.defined() ? residual.value() : Tensor(),
                    .gain = gain.value(),
                    .bias = bias.defined() ? bias.value() : Tensor(),
                    .sum = in,
                    .y = ctx.backend.empty(in.shape, in.dtype),
                    .mean = type == NormType::Rms ? Tensor() : ctx.backend.empty(rows, ctx.backend.full_dtype()),
                    .rstd = ctx.backend.empty(rows, ctx.backend.full_dtype()),
                    .epsilon = epsilon,
                    .dropout = rule};
    ctx.backend.run(op);
    const bool recorded = records(ctx, {&x, &residual, &gain, &bias});
    Normed result{Var(op.sum, recorded), Var(op.y, recorded)};
    if (recorded) {
        auto backward = [x = x.without_value(), residual = residual.without_value(), gain, bias = bias.without_value(),
                         sum = result.sum, y = result.y.without_value(), mean = op.mean, rstd = op.rstd,
                         rule](Backend& backend) {
            AddLayerNormBackward back{.sum = sum.value(),
                                      .gain = gain.value(),
                                      .mean = mean,
                                      .rstd = rstd,
                                      .grad_y = y.gradient(),
                                      .grad_sum_out = sum.has_gradient() ? sum.gradient() : Tensor(),
                                      .grad_gain = {},
                                      .grad_bias = {},
                                      .dropout = rule};
            aim(backend, x, back.grad_x, back.write_x);
            aim(backend, residual, back.grad_residual, back.write_residual);
            aim_always(backend, gain, back.grad_gain, back.write_gain);
            aim(backend, bias, back.grad_bias, back.write_bias);
            const GradientTarget sums = x.sums_target(backend);
            back.grad_x_sums = sums.tensor;
            back.write_x_sums = sums.write;
            backend.run(back);
        };
        ctx.tape->record("add_layer_norm", {gain, bias}, std::move(backward));
    }
    return result;
}

Var multiply(Context& ctx, const Var& a, const Var& b) {
    const Tensor out = ctx.backend.empty(a.shape(), a.value().dtype);
    ctx.backend.run(Multiply{.a = a.value(), .b = b.value(), .out = out});
    const bool recorded = records(ctx, {&a, &b});
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("multiply", {}, [a, b, y = y.without_value()](Backend& backend) {
            for (const auto& [factor, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
                if (factor->requires_grad()) {
                    const GradientTarget to = factor->gradient_target(backend);
                    backend.run(Multiply{.a = y.gradient(), .b = other->value(), .out = to.tensor, .write = to.write});
                }
            }
        });
    }
    return y;
}

Var concatenate(Context& ctx, const Var& a, const Var& b) {
    const std::int64_t columns = a.shape()[-1];
    Shape shape = a.shape();
    shape.set(-1, columns + b.shape()[-1]);
    const Tensor out = ctx.backend.empty(shape, a.value().dtype);
    ctx.backend.run(Copy{.x = a.value(), .out = out.narrow(-1, 0, columns)});
    ctx.backend.run(Copy{.x = b.value(), .out = out.narrow(-1, columns, b.shape()[-1])});
    const bool recorded = records(ctx, {&a, &b});
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("concatenate", {},
                         [a = a.without_value(), b = b.without_value(), y = y.without_value()](Backend& backend) {
                             const Tensor grad = y.gradient();
                             std::int64_t first = 0;
                             for (const Var& part : {a, b}) {
                                 if (part.requires_grad()) {
                                     part.add_gradient(backend, grad.narrow(-1, first, part.shape()[-1]));
                                 }
                                 first += part.shape()[-1];
                             }
                         });
    }
    return y;
}

Var copy_of(Context& ctx, const Var& x) {
    const Tensor out = ctx.backend.empty(x.shape(), x.value().dtype);
    ctx.backend.run(Copy{.x = x.value(), .out = out});
    const bool recorded = records(ctx, {&x});
    Var y(out, recorded);
    if (recorded) {
        ctx.tape->record("copied", {}, [x = x.without_value(), y = y.without_value()](Backend& backend) {
            x.add_gradient(backend, y.gradient());
        });
    }
    return y;
}

Var copied(Context& ctx, const Var& x) {
    return records(ctx, {&x}) ? copy_of(ctx, x) : x;
}

Var dropout(Context& ctx, const Var& x, const DropoutRule& rule) {
    return rule.rate == 0.0F ? x : dropout_to(ctx, x, rule, ctx.backend.empty(x.shape(), x.value().dtype));
}

Var dropout_spending(Context& ctx, const Var& x, const DropoutRule& rule) {
    return rule.rate == 0.0F ? x : dropout_to(ctx, x, rule, x.value());
}

Var embed(Context& ctx, const EmbedOperands& operands) {
    if (operands.table.is_in_blocks()) {
        return Var(embed_blocks(ctx, operands));
    }
    const Tensor& ids = operands.ids;
    const Tensor& table = operands.table.value();
    const Tensor out =
        ctx.backend.empty({ids.dim(0), ids.dim(1), table.dim(1)}, activations_beside(ctx.backend, table.dtype));
    ctx.backend.run(Embed{.ids = ids,
                          .table = table,
                          .positions = operands.positions.defined() ? operands.positions.value() : Tensor(),
                          .first = operands.first,
                          .out = out,
                          .scale = operands.scale,
                          .table_scales = operands.table.scales()});
    const bool recorded = records(ctx, {&operands.table, &operands.positions});
    Var y(out, recorded);
    if (recorded) {
        HEADSCOPE_CHECK(operands.order.defined() || !operands.table.requires_grad(),
                        "the backward of an embedding needs the positions sorted by id");
        HEADSCOPE_CHECK(!operands.first.defined(), "a tape records whole sequences, from position 0");
        ctx.tape->record(
            "embed", {operands.table, operands.positions},
            [operands, y = y.without_value()](Backend& backend) { embed_backward(backend, operands, y.gradient()); });
    }
    return y;
}

}  // namespace headscope
