// Products: forward and backward need the same op, with all four transposes.
#pragma once

#include "backend/ops/common.h"

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
    Tensor b;
    Tensor out;
    bool transpose_a = false;
    bool transpose_b = false;
    float alpha = 1.0F;
    float beta = 0.0F;
    // The operands are rounded to this type before they are multiplied; sums stay F32 (F64 in the oracle).
    // F32: no rounding. BF16: where the device has fast products of it.
    DType compute = DType::F32;
};

}  // namespace headscope
