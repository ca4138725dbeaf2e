// How rows of one tensor are copied to rows of another.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/tensor.h"

namespace headscope {

// An entry of dimension 0: outer * inner runs of `length` elements that lie together in both tensors.
struct RowRuns {
    std::int64_t outer = 1, inner = 1, length = 1;
    std::array<std::int64_t, 2> outer_step{}, inner_step{};  // of the first tensor, of the second
};

// For tensors whose shapes differ in dimension 0 alone.
RowRuns row_runs(const Tensor& first, const Tensor& second);

}  // namespace headscope
