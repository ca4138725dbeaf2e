// Element-wise ops. Operands may be strided (innermost stride 1) unless said otherwise.
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "backend/dropout_rule.h"
#include "tensor/tensor.h"

namespace headscope {

// out = value, for real dtypes and I32.
struct Fill {
    static constexpr const char* kName = "fill";
    Tensor out;
    float value = 0.0F;

    void declare(Declarations& d) const { d.out("out", out).as(OperandType::Any).strided(); }
};

// out = x, or out += x; converts from any real dtype to any (rounding to nearest even). The shapes are equal; out is
// not x.
struct Copy {
    static constexpr const char* kName = "copy";
    Tensor x, out;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x).as(OperandType::Real).strided();
        d.gradient("out", out, write).like(x).as(OperandType::Real).strided();
    }
};

// out = alpha * a + beta * b; without b, out = alpha * a. out may be a or b. Equal shapes.
struct AddScaled {
    static constexpr const char* kName = "add_scaled";
    Tensor a, b = {}, out;
    float alpha = 1.0F;
    float beta = 1.0F;

    void declare(Declarations& d) const {
        d.in("a", a).strided();
        d.in("b", b).like(a).strided().optional();
        d.out("out", out).like(a).strided().may_be(a).may_be(b);
    }
};

// out = a * b, or out += a * b: element by element. The gradient of a is the same op on the gradient of out and b. out
// may be a or b. Equal shapes.
struct Multiply {
    static constexpr const char* kName = "multiply";
    Tensor a, b, out;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("a", a).strided();
        d.in("b", b).like(a).strided();
        d.gradient("out", out, write).like(a).strided().may_be(a).may_be(b);
    }
};

// y = x, scaled, where the rule keeps it, else exactly 0. The backward is the same op on the gradient. x [batch,
// length, columns] or [batch, heads, queries, keys]. y may be x. Paper 5.4.
struct Dropout {
    static constexpr const char* kName = "dropout";
    Tensor x, y;
    DropoutRule rule = {};
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x).ranks(3, 4).strided();
        d.gradient("y", y, write).like(x).strided().may_be(x);
        rule.declare(d, x);
    }
};

}  // namespace headscope
