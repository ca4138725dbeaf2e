#include "backends/cuda/column_sums.h"

#include "backends/cuda/grids.h"

namespace headscope::cuda {

namespace {

__global__ void add_parts_kernel(PartialSums sums, float* out, bool accumulate) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column >= sums.columns) {
        return;
    }
    float sum = 0.0F;
    for (int part = 0; part < sums.parts; ++part) {
        sum += sums.partial[part * sums.stride + column];
    }
    out[column] = accumulate ? out[column] + sum : sum;
}

}  // namespace

void add_parts(Stream& stream, const char* op, const PartialSums& sums, float* out, bool accumulate) {
    stream.launch(op, add_parts_kernel, item_grid(sums.columns), sums, out, accumulate);
}

}  // namespace headscope::cuda
