// "Add & Norm". Contiguous operands.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "backend/dropout_rule.h"
#include "tensor/tensor.h"

namespace headscope {

// sum = residual + Dropout(x);  y = gain * (sum - mean) * rstd + bias, with rstd = 1 / sqrt(variance + epsilon) and the
// variance divided by columns. Paper 3.1 and 5.4. Pre-norm layers use both sum and y. Without `mean` it is an RMS norm:
// y = gain * sum * rstd + bias, with rstd = 1 / sqrt(average(sum^2) + epsilon).
struct AddLayerNorm {
    static constexpr const char* kName = "add_layer_norm";
    Tensor x, residual = {}, gain, bias = {}, sum, y;
    Tensor mean = {};  // kept for backward, as rstd
    Tensor rstd;
    float epsilon = 1e-6F;
    DropoutRule dropout = {};  // only on x

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "length", "columns"});
        d.in("residual", residual).like(x).optional();
        d.in("gain", gain, {"columns"}).full();
        d.in("bias", bias, {"columns"}).full().optional();
        d.out("sum", sum).like(x).may_be(x).may_be(residual);
        d.out("y", y).like(x);
        d.out("mean", mean, {"batch", "length"}).full().optional();
        d.out("rstd", rstd, {"batch", "length"}).full();
        dropout.declare(d, x);
    }
};

// grad_sum is the gradient of the norm's input: the norm's own plus grad_sum_out (the gradient of `sum`, pre-norm
// only). grad_residual = grad_sum, grad_x = Dropout(grad_sum). Without `mean` it is the backward of RMS norm.
// grad_x_sums[c] = the sum over rows of grad_x[r, c] as it then is, in a fixed order: the gradient of a bias that was
// added to make x. A kernel may add what it has not rounded yet to grad_x's type.
struct AddLayerNormBackward {
    static constexpr const char* kName = "add_layer_norm_backward";
    Tensor sum;  // from forward, as mean and rstd
    Tensor gain, mean = {}, rstd, grad_y = {}, grad_sum_out = {}, grad_x = {}, grad_residual = {}, grad_gain,
                 grad_bias = {}, grad_x_sums = {};
    Write write_x = Write::Overwrite;
    Write write_residual = Write::Overwrite;
    Write write_gain = Write::Overwrite;
    Write write_bias = Write::Overwrite;
    Write write_x_sums = Write::Overwrite;
    DropoutRule dropout = {};

    void declare(Declarations& d) const {
        d.in("sum", sum, {"batch", "length", "columns"});
        d.in("gain", gain, {"columns"}).full();
        d.in("mean", mean, {"batch", "length"}).full().optional();
        d.in("rstd", rstd, {"batch", "length"}).full();
        d.in("grad_y", grad_y).like(sum).optional();
        d.in("grad_sum_out", grad_sum_out).like(sum).optional();
        d.gradient("grad_x", grad_x, write_x).like(sum).optional();
        d.gradient("grad_residual", grad_residual, write_residual).like(sum).optional();
        d.gradient("grad_gain", grad_gain, write_gain, {"columns"}).full();
        d.gradient("grad_bias", grad_bias, write_bias, {"columns"}).full().optional();
        d.gradient("grad_x_sums", grad_x_sums, write_x_sums, {"columns"}).full().optional();
        dropout.declare(d, sum);
    }
};

}  // namespace headscope
