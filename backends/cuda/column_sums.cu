#include "backends/cuda/column_sums.h"

#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"

namespace headscope::cuda {

namespace {

constexpr int kLines = 8;  // of a block: each adds every eighth part

// A warp's threads have neighbouring columns. The lines' sums are added in order.
__global__ void add_parts_kernel(PartialSums sums, float* out, bool accumulate) {
    auto* of_lines = shared_rest<float>();  // [kLines][kWarp]
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int line = static_cast<int>(threadIdx.x) / kWarp;
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kWarp + lane;
    float sum = 0.0F;
    for (int part = line; part < sums.parts && column < sums.columns; part += kLines) {
        sum += sums.partial[part * sums.stride + column];
    }
    of_lines[line * kWarp + lane] = sum;
    __syncthreads();
    if (line == 0 && column < sums.columns) {
        for (int other = 1; other < kLines; ++other) {
            sum += of_lines[other * kWarp + lane];
        }
        out[column] = accumulate ? out[column] + sum : sum;
    }
}

}  // namespace

void add_parts(Stream& stream, const char* op, const PartialSums& sums, float* out, bool accumulate) {
    const Grid grid{dim3(block_count((sums.columns + kWarp - 1) / kWarp)), kLines * kWarp,
                    kReduceBytes + kLines * kWarp * sizeof(float)};
    stream.launch(op, add_parts_kernel, grid, sums, out, accumulate);
}

}  // namespace headscope::cuda
