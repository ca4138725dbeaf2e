// Bias with activation, and the column sum that is the gradient of a bias. Contiguous operands.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "backend/dropout_rule.h"
#include "tensor/tensor.h"

namespace headscope {

// y = Dropout(f(x + bias)). y may be x when activation is None or Relu. Paper 3.3, equation 2, and the dropout on ReLU.
struct BiasActivation {
    static constexpr const char* kName = "bias_activation";
    Tensor x, bias = {}, y;
    Activation activation = Activation::None;
    DropoutRule dropout = {};

    void declare(Declarations& d) const {
        const bool in_place = works_in_place(activation);
        d.in("x", x, {"batch", "length", "columns"});
        d.in("bias", bias, {"columns"}).full().optional();
        d.out("y", y).like(x).may_be(x, in_place);
        dropout.declare(d, x);
    }
};

// grad_x = f'(x + bias) * Dropout(grad_y). For Relu x may be the forward's y (only its sign matters), without a bias;
// for the others x is the forward's x. grad_x may be grad_y. sums[c] = the sum over rows of grad_x[r, c] as it then is,
// in a fixed order: the gradient of the bias. A kernel may add what it has not rounded yet to grad_x's type.
struct BiasActivationBackward {
    static constexpr const char* kName = "bias_activation_backward";
    Tensor x, bias = {}, grad_y, grad_x;
    Activation activation = Activation::None;
    DropoutRule dropout = {};
    Write write = Write::Overwrite;
    Tensor sums = {};
    Write write_sums = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "length", "columns"});
        d.in("bias", bias, {"columns"}).full().optional();
        d.in("grad_y", grad_y).like(x);
        d.gradient("grad_x", grad_x, write).like(x).may_be(grad_y);
        d.gradient("sums", sums, write_sums, {"columns"}).full().optional();
        dropout.declare(d, x);
    }
};

// out[c] = sum over rows of x[r, c], in a fixed order: the gradient of a bias, or with one column a total.
struct SumRows {
    static constexpr const char* kName = "sum_rows";
    Tensor x, out;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x, {"rows", "columns"});
        d.gradient("out", out, write, {"columns"}).full();
    }
};

}  // namespace headscope
