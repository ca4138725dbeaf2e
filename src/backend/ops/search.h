// Ops for beam search. Paper 6.1.
#pragma once

#include "backend/ops/common.h"

namespace headscope {

// The k largest entries of log_softmax(logits) of each row, largest first; equal values by smaller index. A NaN ranks
// below everything and is left out of the sum. Contiguous.
struct LogSoftmaxTopK {
    static constexpr const char* kName = "log_softmax_top_k";
    static constexpr int kMaxK = 64;
    Tensor logits;   // T [rows, classes]
    Tensor values;   // out [rows, k], 1 <= k <= min(classes, kMaxK)
    Tensor indices;  // out I32 [rows, k]
};

// out[r, ...] = x[index[r], ...]: reorders a beam's caches by its back-pointers. x and out may be strided; out is not
// x.
struct GatherRows {
    static constexpr const char* kName = "gather_rows";
    Tensor x;      // [rows_in, ...], of any dtype
    Tensor index;  // I32 [rows_out]; outside [0, rows_in) gives a row of NaN (real dtypes) or 0
    Tensor out;    // [rows_out, ...], of x's dtype
};

}  // namespace headscope
