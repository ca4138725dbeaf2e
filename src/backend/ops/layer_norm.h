// "Add & Norm". Contiguous operands.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// sum = residual + Dropout(x);  y = gain * (sum - mean) * rstd + bias, with rstd = 1 / sqrt(variance + epsilon) and the
// variance divided by columns. Paper 3.1 and 5.4. Pre-norm layers use both sum and y.
struct AddLayerNorm {
    static constexpr const char* kName = "add_layer_norm";
    Tensor x;              // T [batch, length, columns]
    Tensor residual = {};  // as x, optional
    Tensor gain;           // [columns]
    Tensor bias;           // [columns]
    Tensor sum;            // out, as x; may be x or residual
    Tensor y;              // out, as x; a separate buffer
    Tensor mean;           // out [batch, length], kept for backward
    Tensor rstd;           // out [batch, length]
    float epsilon = 1e-6F;
    DropoutRule dropout = {};  // only on x
};

// grad_sum is the gradient of the norm's input: the norm's own plus grad_sum_out (the gradient of `sum`, pre-norm
// only). grad_residual = grad_sum, grad_x = Dropout(grad_sum).
struct AddLayerNormBackward {
    static constexpr const char* kName = "add_layer_norm_backward";
    Tensor sum;                 // T [batch, length, columns], from forward
    Tensor gain;                // [columns]
    Tensor mean;                // [batch, length]
    Tensor rstd;                // [batch, length]
    Tensor grad_y = {};         // as sum
    Tensor grad_sum_out = {};   // as sum, optional
    Tensor grad_x = {};         // out, as sum, optional
    Tensor grad_residual = {};  // out, as sum, optional; not grad_x's buffer
    Tensor grad_gain;           // out [columns]
    Tensor grad_bias;           // out [columns]
    Write write_x = Write::Overwrite;
    Write write_residual = Write::Overwrite;
    Write write_gain = Write::Overwrite;
    Write write_bias = Write::Overwrite;
    DropoutRule dropout = {};
};

}  // namespace headscope
