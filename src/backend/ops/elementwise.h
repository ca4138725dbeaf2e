// Element-wise ops. Operands may be strided (innermost stride 1) unless said otherwise.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// out = value, for real dtypes and I32.
struct Fill {
    static constexpr const char* kName = "fill";
    Tensor out;  // any shape
    float value = 0.0F;
};

// out = x, or out += x; converts from any real dtype to any (rounding to nearest even). The shapes are equal.
struct Copy {
    static constexpr const char* kName = "copy";
    Tensor x;
    Tensor out;
    Write write = Write::Overwrite;
};

// out = alpha * a + beta * b; without b, out = alpha * a. out may be a or b. Equal shapes.
struct AddScaled {
    static constexpr const char* kName = "add_scaled";
    Tensor a;       // T
    Tensor b = {};  // T
    Tensor out;     // T
    float alpha = 1.0F;
    float beta = 1.0F;
};

// y = x, scaled, where the rule keeps it, else exactly 0. The backward is the same op on the gradient. x [batch,
// length, columns] or [batch, heads, queries, keys]. y may be x. Paper 5.4.
struct Dropout {
    static constexpr const char* kName = "dropout";
    Tensor x;  // T
    Tensor y;  // out T
    DropoutRule rule = {};
    Write write = Write::Overwrite;
};

}  // namespace headscope
