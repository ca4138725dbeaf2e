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
// two adds its roundoff to u. A sum of what an op also writes in 16 bits may be one of the rounded numbers, and so adds
// the roundoff of those. An exact 0 (dropped, masked, a pad) must be 0.
#pragma once

#include <string>

#include "conformance/case.h"

namespace headscope::conformance {

// How far one result is from another. Infinite if no tolerance can be met: a value that must be exact and is not, an
// exact 0 that is not 0, and (all three) NaN or infinity in the wrong place.
struct Closeness {
    double of_bound = 0.0;        // the largest error relative to its bound: at most 1 passes
    double worst_relative = 0.0;  // the largest error of an element over its m
    double nmse = 0.0;            // squared errors over squared values, of the whole tensor

    void widen(const Closeness& other);  // the worse of the two, number by number
};

struct Comparison {
    std::string complaint;  // empty if correct
    Closeness closeness;
};

// The allowed errors of an output over m: of an element, and of the whole tensor.
struct Tolerance {
    double element = 0.0;
    double tensor = 0.0;
    std::string reason = {};  // "12 u + 2 sqrt(512) 2^-24, u = 2^-11 of f16"
};
Tolerance tolerance_of(const Case& stated, const Operand& output);

// Whether only the oracle's value rounded to the output's dtype is accepted, so that no magnitude is needed.
bool must_be_exact(const Case& stated, const Operand& output, bool accumulated);

// The largest finite |value| of an element's row; of the whole tensor if rows have one element.
Values row_magnitude(const Shape& shape, const Values& values);

Comparison compare(const Case& stated, const Operand& output, bool accumulated, const Values& expected,
                   const Values& got, const Values& magnitude, const HostValues& inputs);

}  // namespace headscope::conformance
