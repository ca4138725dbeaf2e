// Weights in panels: 32 rows of W [n, k], which are columns of x . W^T, side by side, so that a product reads one
// stream of memory with columns in the lanes of a vector. Panel p starts at element 32 p k and is, in
//   F32, F16, BF16   [k, width],
//   I8               [k / 4, width, 4], with 128 added: VNNI multiplies numbers without a sign by numbers with one;
// width is 32, or in the last panel what remains. A matrix takes the memory of its rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/thread_pool.h"
#include "tensor/tensor.h"

namespace headscope::cpu {

inline constexpr std::int64_t kPanelColumns = Tensor::kPanelRows;
inline constexpr std::int64_t kUnit = 4;  // numbers of I8 that one instruction sums in a lane

inline std::int64_t panel_width(std::int64_t columns, std::int64_t first) {
    return std::min(kPanelColumns, columns - first);
}

// Whether this matrix can be in panels.
bool fits_panels(const Tensor& weight);

// Reorders the memory of a matrix in rows.
void pack_panels(ThreadPool& pool, const Tensor& weight);

// Reorders rows [m, k] at `from` into the panels of a weight of the same size, and back.
void rows_to_panels(const Tensor& weight, const std::byte* from);
void panels_to_rows(const Tensor& weight, std::byte* to);

// A row of the weight as floats, those of I8 not scaled.
void row_of_panels(const Tensor& weight, std::int64_t row, float* to);

}  // namespace headscope::cpu
