// How far a backend may be from the oracle.
//
// One rule for every op: a result is the rounding of the exact one to its dtype plus what was lost on the way. With u
// the unit roundoff of the dtype, sums of k terms kept in F32 lose about u sqrt(k) of the sum of the terms' absolute
// values where errors have random signs (Higham & Mary, SISC 2019), u k at worst. So, with m an element's magnitude:
//   each element:  |got - expected| <= u (12 + 2 sqrt(k)) m     12: exp, log, erfc and a handful of roundings
//   the tensor:    ||got - expected|| <= u (4 + sqrt(k)/2) ||m||  errors average out, so that a small bias shows
// m is the op on absolute values where the case states it (products, sums). Elsewhere it is the largest of
//   - |expected| in the element's row, since softmax and norm scale a row as a whole,
//   - the root of the mean square of those over the tensor, since an element may be small by cancellation,
//   - how far the row moves when every input moves by about u, over u: what rounds its inputs once does no better,
//   - the size of terms that cancel within the op, where the case states one.
// Where devices may round the operands of a product in ways of their own (TF32: to nearest or towards 0), each of the
// two adds its roundoff to u. An exact 0 (dropped, masked, a pad) must be 0.
#pragma once

#include <string>

#include "conformance/case.h"

namespace headscope::conformance {

// How far one result is from another. Infinitely where no tolerance can be met: of what must be exact and is not, of an
// exact 0 that is none, and (all three) of a NaN or an infinity that stands where it should not.
struct Closeness {
    double of_bound = 0.0;        // the largest error over what it may be: at most 1
    double worst_relative = 0.0;  // the largest error of an element over its m
    double nmse = 0.0;            // squared errors over squared values, of the whole tensor

    void widen(const Closeness& other);  // to the worse of the two, number by number
};

struct Comparison {
    std::string complaint;  // empty where all is well
    Closeness closeness;
};

// What an output's errors may be, over m: of an element, and of the tensor as a whole.
struct Tolerance {
    double element = 0.0;
    double tensor = 0.0;
    std::string reason = {};  // "12 u + 2 sqrt(512) 2^-24, u = 2^-11 of f16"
};
Tolerance tolerance_of(const Case& stated, const Operand& output);

// Whether nothing but the oracle's value rounded to the output's dtype will do, so that no magnitude is asked for.
bool must_be_exact(const Case& stated, const Operand& output, bool accumulated);

// The largest finite |value| of an element's row; of the whole tensor where rows have one element.
Values row_magnitude(const Shape& shape, const Values& values);

Comparison compare(const Case& stated, const Operand& output, bool accumulated, const Values& expected,
                   const Values& got, const Values& magnitude, const HostValues& inputs);

}  // namespace headscope::conformance
