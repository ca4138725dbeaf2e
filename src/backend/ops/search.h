// Ops for beam search. Paper 6.1.
#pragma once

#include "backend/declarations.h"
#include "tensor/tensor.h"

namespace headscope {

// The k largest entries of log_softmax(logits) of each row, largest first; equal values by smaller index. A NaN ranks
// below everything and is left out of the sum. Contiguous.
struct LogSoftmaxTopK {
    static constexpr const char* kName = "log_softmax_top_k";
    static constexpr int kMaxK = 64;
    Tensor logits;
    Tensor values;  // 1 <= k <= min(classes, kMaxK)
    Tensor indices;

    void declare(Declarations& d) const {
        d.in("logits", logits, {"rows", "classes"});
        d.out("values", values, {"rows", "k"}).full();
        d.out("indices", indices, {"rows", "k"}).index();
    }
};

// out[r, ...] = x[index[r], ...]: reorders a beam's caches by its back-pointers. x and out may be strided; out is not
// x.
struct GatherRows {
    static constexpr const char* kName = "gather_rows";
    Tensor x;
    Tensor index;  // outside [0, rows_in) gives a row of NaN (real dtypes) or 0
    Tensor out;    // of x's dtype

    void declare(Declarations& d) const {
        d.in("x", x).ranks(1, kMaxRank).as(OperandType::Any).strided();
        d.in("index", index, {"rows_out"}).index();
        d.out("out", out).ranks(1, kMaxRank).as(OperandType::Any).strided();
    }
};

}  // namespace headscope
