// The second level of column sums: blocks have summed parts of the rows; this adds the parts in order.
#pragma once

#include <cstdint>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

// out[c] = sum over parts of partial[part * stride + c], or out[c] += that, for c < columns.
struct PartialSums {
    const float* partial;
    int parts;
    std::int64_t stride;
    std::int64_t columns;
};
void add_parts(Stream& stream, const char* op, const PartialSums& sums, float* out, bool accumulate);

}  // namespace headscope::cuda
