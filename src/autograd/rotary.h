// Rotary positions of queries and keys.
#pragma once

#include "autograd/context.h"
#include "autograd/variable.h"

namespace headscope {

// How the tokens of a pass are turned: see Rotate. Undefined turns: not at all.
struct Turns {
    Tensor table = {};
    Tensor first = {};      // I32 [1], the first position; undefined: 0. Only without a tape.
    bool each_row = false;  // the table's row b is that of row b of x, which has one token. Only without a tape.
    bool neighbours = false;
};

// Turns x [batch, heads, length, depth] in place, and the gradient that it gets later back. So x may be a view of a
// larger variable, such as the queries and keys of a packed product, whose own function then needs its value no more.
void rotate(Context& ctx, const Var& x, const Turns& turns);

}  // namespace headscope
