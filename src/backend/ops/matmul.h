// Products: forward and backward use the same op, with all four transposes.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// out = alpha * op(a) . op(b) + beta * out, over zero, one or two leading batch dimensions.
//   op(a) is [.., m, k]: a is [.., m, k], or [.., k, m] with transpose_a
//   op(b) is [.., k, n]: b is [.., k, n], or [.., n, k] with transpose_b
// All three have one rank (2, 3 or 4) and equal batch dimensions; any stride but the innermost (1) is free.
// beta = 0 never reads out. m, n, k or a batch dimension may be 0 (k = 0 gives beta * out).
// Weights are [out_features, in_features] everywhere: y = x . W^T is transpose_b = true.
struct Matmul {
    static constexpr const char* kName = "matmul";
    Tensor a;
    Tensor b;    // if narrow: [n, k] with transpose_b, a not transposed, and compute F32
    Tensor out;  // T, or F32: the gradient of a weight
    bool transpose_a = false;
    bool transpose_b = false;
    float alpha = 1.0F;
    float beta = 0.0F;
    Compute compute = Compute::F32;  // ignored for 16-bit operands, which are multiplied as they are
    Tensor b_scales = {};

    void declare(Declarations& d) const {
        const auto product = [&](Declared& operand) -> Declared& { return operand.strided().batched(); };
        product(transpose_a ? d.in("a", a, {"k", "m"}) : d.in("a", a, {"m", "k"}));
        product(transpose_b ? d.in("b", b, {"n", "k"}) : d.in("b", b, {"k", "n"})).as(OperandType::Weight);
        const Write write = beta == 0.0F ? Write::Overwrite : Write::Accumulate;
        product(d.gradient("out", out, write, {"m", "n"})).as(OperandType::OwnOrFull);
        d.in("b_scales", b_scales, {"n"}).scales(b);
    }
};

// Fused, with a composition as default: y = f(x . W^T + bias), half of equation 2 in one pass over y. Paper 3.3. Rows
// of x and of the weight may be strided; y is contiguous. A kernel may round the bias to T before adding it, and with
// Relu a NaN may become 0, as in the max(0, x) of libraries. rounded_bias is the bias in T, for kernels that would
// otherwise round it each time.
struct Linear {
    static constexpr const char* kName = "linear";
    Tensor x, weight, bias = {}, y;
    Activation activation = Activation::None;
    Compute compute = Compute::F32;  // as Matmul's
    Tensor weight_scales = {};
    Tensor rounded_bias = {};

    void declare(Declarations& d) const {
        d.in("x", x, {"rows", "in"}).strided();
        d.in("weight", weight, {"out", "in"}).as(OperandType::Weight).strided();
        d.in("bias", bias, {"out"}).full().optional();
        d.out("y", y, {"rows", "out"});
        d.in("weight_scales", weight_scales, {"out"}).scales(weight);
        d.in("rounded_bias", rounded_bias, {"out"}).optional();
    }
};

}  // namespace headscope
