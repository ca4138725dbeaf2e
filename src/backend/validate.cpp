// elementwise, matmul, bias, layer_norm
#include "backend/validate.h"

#include "backend/operand_checks.h"

namespace headscope {

void validate(const Fill& op) {
    const OperandChecks check(Fill::kName);
    check.numeric("out", op.out);
    check.expect(op.out.dtype != DType::I8, [&] { return "out must be real or I32, found " + op.out.to_string(); });
}

void validate(const Copy& op) {
    OperandChecks from(Copy::kName);
    OperandChecks to(Copy::kName);  // x and out may differ in dtype
    from.real("x", op.x);
    to.real("out", op.out);
    to.shape("out", op.out, op.x.shape);
    to.accumulates_apart("out", op.out, op.x, op.write);
}

void validate(const AddScaled& op) {
    OperandChecks check(AddScaled::kName);
    check.real("a", op.a);
    check.real("out", op.out);
    check.shape("out", op.out, op.a.shape);
    check.same_or_apart("out", op.out, op.a);
    if (op.b.defined()) {
        check.real("b", op.b);
        check.shape("b", op.b, op.a.shape);
        check.same_or_apart("out", op.out, op.b);
    }
}

void validate(const Dropout& op) {
    OperandChecks check(Dropout::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 3, 4);
    check.real("y", op.y);
    check.shape("y", op.y, op.x.shape);
    check.accumulates_apart("y", op.y, op.x, op.write);
    check.dropout(op.rule, op.x);
}

namespace {

std::string text_of(std::int64_t rows, std::int64_t columns) {
    return Shape{rows, columns}.to_string();
}

}  // namespace

void validate(const Matmul& op) {
    OperandChecks check(Matmul::kName);
    check.real("a", op.a);
    check.rank("a", op.a, 2, 4);
    check.weight("b", op.b, "b_scales", op.b_scales);
    check.rank("b", op.b, op.a.rank(), op.a.rank());
    check.expect(op.b.dtype == op.a.dtype ||
                     (op.a.rank() == 2 && !op.transpose_a && op.transpose_b && op.compute == Compute::F32),
                 [&] {
                     return "b is narrower than a, which is only supported for a single F32 product a . b^T, found a " +
                            op.a.to_string() + " and b " + op.b.to_string();
                 });
    if (op.out.defined() && op.out.dtype == check.wide()) {
        check.typed("out", op.out, check.wide());
    } else {
        check.real("out", op.out);
    }
    check.rank("out", op.out, op.a.rank(), op.a.rank());
    const std::int64_t m = op.a.dim(op.transpose_a ? -1 : -2);
    const std::int64_t k = op.a.dim(op.transpose_a ? -2 : -1);
    const std::int64_t n = op.b.dim(op.transpose_b ? -2 : -1);
    const std::int64_t k_of_b = op.b.dim(op.transpose_b ? -1 : -2);
    check.expect(k == k_of_b, [&] {
        return "a and b must agree in k: a is " + op.a.to_string() + (op.transpose_a ? " transposed" : "") + ", b is " +
               op.b.to_string() + (op.transpose_b ? " transposed" : "");
    });
    check.expect(op.out.dim(-2) == m && op.out.dim(-1) == n,
                 [&] { return "out must end in " + text_of(m, n) + ", found " + op.out.to_string(); });
    for (int dim = 0; dim < op.a.rank() - 2; ++dim) {
        check.expect(op.b.dim(dim) == op.a.dim(dim) && op.out.dim(dim) == op.a.dim(dim), [&] {
            return "the batch dimensions must be equal: a is " + op.a.to_string() + ", b is " + op.b.to_string() +
                   ", out is " + op.out.to_string();
        });
    }
    check.apart("out", op.out, {&op.a, &op.b, &op.b_scales});
}

void validate(const Linear& op) {
    OperandChecks check(Linear::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 2, 2);
    check.weight("weight", op.weight, "weight_scales", op.weight_scales);
    check.rank("weight", op.weight, 2, 2);
    check.expect(op.weight.dtype == op.x.dtype || op.compute == Compute::F32, [&] {
        return "weight is narrower than x, which is only supported for F32 products, found " + op.weight.to_string();
    });
    const std::int64_t columns = op.weight.dim(0);
    check.shape("weight", op.weight, Shape{columns, op.x.dim(1)});
    if (op.bias.defined()) {
        check.full("bias", op.bias, Shape{columns});
    }
    check.plain("y", op.y, Shape{op.x.dim(0), columns});
    check.apart("y", op.y, {&op.x, &op.weight, &op.bias, &op.weight_scales});
}

void validate(const BiasActivation& op) {
    OperandChecks check(BiasActivation::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 3, 3);
    check.contiguous("x", op.x);
    check.plain("y", op.y, op.x.shape);
    if (op.bias.defined()) {
        check.full("bias", op.bias, Shape{op.x.dim(2)});
        check.apart("y", op.y, {&op.bias});
    }
    // The backward of Gelu and Swish needs x.
    if (op.activation == Activation::None || op.activation == Activation::Relu) {
        check.same_or_apart("y", op.y, op.x);
    } else {
        check.apart("y", op.y, {&op.x});
    }
    check.dropout(op.dropout, op.x);
}

void validate(const BiasActivationBackward& op) {
    OperandChecks check(BiasActivationBackward::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 3, 3);
    check.contiguous("x", op.x);
    check.plain("grad_y", op.grad_y, op.x.shape);
    check.plain("grad_x", op.grad_x, op.x.shape);
    if (op.bias.defined()) {
        check.full("bias", op.bias, Shape{op.x.dim(2)});
        check.apart("grad_x", op.grad_x, {&op.bias});
    }
    check.apart("grad_x", op.grad_x, {&op.x});
    check.accumulates_apart("grad_x", op.grad_x, op.grad_y, op.write);
    check.dropout(op.dropout, op.x);
}

void validate(const SumRows& op) {
    OperandChecks check(SumRows::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 2, 2);
    check.contiguous("x", op.x);
    check.full("out", op.out, Shape{op.x.dim(1)});
    check.apart("out", op.out, {&op.x});
}

void validate(const AddLayerNorm& op) {
    OperandChecks check(AddLayerNorm::kName);
    check.real("x", op.x);
    check.rank("x", op.x, 3, 3);
    check.contiguous("x", op.x);
    const Shape columns{op.x.dim(2)};
    const Shape rows{op.x.dim(0), op.x.dim(1)};
    if (op.residual.defined()) {
        check.plain("residual", op.residual, op.x.shape);
        check.same_or_apart("sum", op.sum, op.residual);
    }
    check.full("gain", op.gain, columns);
    check.full("bias", op.bias, columns);
    check.plain("sum", op.sum, op.x.shape);
    check.same_or_apart("sum", op.sum, op.x);
    check.plain("y", op.y, op.x.shape);
    check.apart("y", op.y, {&op.x, &op.residual, &op.sum, &op.gain, &op.bias});
    check.full("mean", op.mean, rows);
    check.full("rstd", op.rstd, rows);
    check.apart("sum", op.sum, {&op.gain, &op.bias, &op.mean, &op.rstd});
    check.apart("mean", op.mean, {&op.x, &op.residual, &op.gain, &op.bias, &op.y, &op.rstd});
    check.apart("rstd", op.rstd, {&op.x, &op.residual, &op.gain, &op.bias, &op.y});
    check.expect(op.epsilon >= 0.0F,
                 [&] { return "epsilon must not be negative, found " + std::to_string(op.epsilon); });
    check.dropout(op.dropout, op.x);
}

void validate(const AddLayerNormBackward& op) {
    OperandChecks check(AddLayerNormBackward::kName);
    check.real("sum", op.sum);
    check.rank("sum", op.sum, 3, 3);
    check.contiguous("sum", op.sum);
    const Shape columns{op.sum.dim(2)};
    const Shape rows{op.sum.dim(0), op.sum.dim(1)};
    check.full("gain", op.gain, columns);
    check.full("mean", op.mean, rows);
    check.full("rstd", op.rstd, rows);
    check.expect(op.grad_y.defined() || op.grad_sum_out.defined(),
                 [&] { return std::string("grad_y and grad_sum_out are both missing"); });
    const auto each = [&](const char* name, const Tensor& tensor) {
        if (tensor.defined()) {
            check.plain(name, tensor, op.sum.shape);
        }
    };
    each("grad_y", op.grad_y);
    each("grad_sum_out", op.grad_sum_out);
    each("grad_x", op.grad_x);
    each("grad_residual", op.grad_residual);
    check.full("grad_gain", op.grad_gain, columns);
    check.full("grad_bias", op.grad_bias, columns);
    const std::initializer_list<const Tensor*> inputs{&op.sum,  &op.gain,   &op.mean,
                                                      &op.rstd, &op.grad_y, &op.grad_sum_out};
    check.apart("grad_x", op.grad_x, inputs);
    check.apart("grad_residual", op.grad_residual, inputs);
    check.apart("grad_gain", op.grad_gain, inputs);
    check.apart("grad_bias", op.grad_bias, inputs);
    check.apart("grad_x", op.grad_x, {&op.grad_residual, &op.grad_gain, &op.grad_bias});
    check.apart("grad_residual", op.grad_residual, {&op.grad_gain, &op.grad_bias});
    check.apart("grad_gain", op.grad_gain, {&op.grad_bias});
    check.dropout(op.dropout, op.sum);
}

}  // namespace headscope
