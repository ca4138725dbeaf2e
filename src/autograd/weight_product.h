// A product with a weight, whatever it is stored in.
#pragma once

#include "autograd/context.h"

namespace headscope {

// out = alpha * x . W^T + beta * out: x [rows, in], with any stride between rows, weight [out, in]. Records nothing.
struct WeightProduct {
    const Tensor& x;
    const Var& weight;
    const Tensor& out;
    float alpha = 1.0F;
    float beta = 0.0F;
};
void multiply(Context& ctx, const WeightProduct& product);

// The numbers of a weight in blocks, [out, in]; the value of another one.
Tensor numbers_of(Backend& backend, const Var& weight);

}  // namespace headscope
