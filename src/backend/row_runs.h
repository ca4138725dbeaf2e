// How to copy rows of one tensor to rows of another.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/tensor.h"

namespace headscope {

// An entry of dimension 0: outer * inner runs of `length` elements that are contiguous in both tensors.
struct RowRuns {
    std::int64_t outer = 1, inner = 1, length = 1;
    std::array<std::int64_t, 2> outer_step{}, inner_step{};  // of the first tensor, of the second
};

// For tensors whose shapes differ only in dimension 0.
RowRuns row_runs(const Tensor& first, const Tensor& second);

}  // namespace headscope
