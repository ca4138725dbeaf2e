// Rotary positions: pairs of columns of queries and keys are turned by angles that grow with the position, so that
// their products depend on the distance alone. Su et al., 2021 (RoFormer).
#pragma once

#include "backend/choices.h"
#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// With (a, b) the columns of pair p of x[b, h, i, :], c = turns[*first + i, 0, p] and s = turns[*first + i, 1, p]:
//   out = (a c - b s, b c + a s), or with `inverse` (a c + b s, b c - a s).
// Pair p has the columns p and pairs + p, or with `neighbours` 2 p and 2 p + 1; columns behind those of the pairs are
// copied. A position outside the table makes its pairs NaN, never an out-of-bounds read. The gradient of x is the
// inverse of the same op. Operands may be strided, except for turns, and out may be x.
struct Rotate {
    static constexpr const char* kName = "rotate";
    Tensor x, turns;
    Tensor first = {};  // absent: 0; the cache length while decoding
    Tensor out;
    bool neighbours = false;
    bool inverse = false;

    void declare(Declarations& d) const {
        d.in("x", x, {"batch", "heads", "length", "depth"}).strided();
        d.in("turns", turns, {"positions", 2, "pairs"}).full();
        d.in("first", first, {1}).index().optional();
        d.out("out", out).like(x).strided().may_be(x);
    }
};

}  // namespace headscope
