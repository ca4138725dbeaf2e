// The second level of column sums: blocks have summed parts of the rows; this adds the parts in order.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

// Several outputs may lie behind each other in a part: of output j the parts hold partial[part * stride + j * columns +
// c].
struct PartialSums {
    const float* partial;
    int parts;
    std::int64_t stride;
    std::int64_t columns;
};
struct SumOutput {
    float* out = nullptr;  // [columns]; null: not wanted
    bool accumulate = false;
};
constexpr int kMostSums = 3;

// out[c] = the sum over the parts, or out[c] += that, for each output.
void add_parts(Stream& stream, const char* op, const PartialSums& sums, std::initializer_list<SumOutput> outputs);

}  // namespace headscope::cuda
