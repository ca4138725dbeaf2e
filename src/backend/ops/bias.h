// Bias with activation, and the column sum that is the gradient of a bias. Contiguous operands.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// y = Dropout(f(x + bias)). y may be x when activation is None or Relu. Paper 3.3, equation 2, and the dropout on ReLU.
struct BiasActivation {
    static constexpr const char* kName = "bias_activation";
    Tensor x;          // T [batch, length, columns]
    Tensor bias = {};  // [columns], optional
    Tensor y;          // out, as x
    Activation activation = Activation::None;
    DropoutRule dropout = {};
};

// grad_x = f'(x + bias) * Dropout(grad_y). For Relu x may be the forward's y (only its sign matters), without a bias;
// for Gelu and Swish x is the forward's x. grad_x may be grad_y.
struct BiasActivationBackward {
    static constexpr const char* kName = "bias_activation_backward";
    Tensor x;          // T [batch, length, columns]
    Tensor bias = {};  // [columns], optional
    Tensor grad_y;     // as x
    Tensor grad_x;     // out, as x
    Activation activation = Activation::None;
    DropoutRule dropout = {};
    Write write = Write::Overwrite;
};

// out[c] = sum over rows of x[r, c], in a fixed order: the gradient of a bias, or with one column a total.
struct SumRows {
    static constexpr const char* kName = "sum_rows";
    Tensor x;    // T [rows, columns]; rows may be 0
    Tensor out;  // [columns]
    Write write = Write::Overwrite;
};

}  // namespace headscope
