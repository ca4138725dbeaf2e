#include "backends/cuda/column_sums.h"

#include <algorithm>

#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"

namespace headscope::cuda {

namespace {

// A block has few columns, of 32 bytes of memory, and many lines, so that most of its loads are on their way at once.
constexpr int kColumns = 8;
constexpr int kLines = 32;  // each adds every 32nd part

struct SumOutputs {
    SumOutput of[kMostSums];
};

// The lines' sums are added in order.
__global__ void add_parts_kernel(PartialSums sums, SumOutputs outputs, int count) {
    after_previous();
    auto* of_lines = shared_rest<float>();  // [kLines][kColumns]
    const int within = static_cast<int>(threadIdx.x) % kColumns;
    const int line = static_cast<int>(threadIdx.x) / kColumns;
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kColumns + within;
    const bool there = place < count * sums.columns;
    float sum = 0.0F;
    for (int part = line; part < sums.parts && there; part += kLines) {
        sum += sums.partial[part * sums.stride + place];
    }
    of_lines[line * kColumns + within] = sum;
    __syncthreads();
    if (line == 0 && there) {
        for (int other = 1; other < kLines; ++other) {
            sum += of_lines[other * kColumns + within];
        }
        const SumOutput output = outputs.of[place / sums.columns];
        const std::int64_t column = place % sums.columns;
        if (output.out != nullptr) {
            output.out[column] = output.accumulate ? output.out[column] + sum : sum;
        }
    }
}

}  // namespace

void add_parts(Stream& stream, const char* op, const PartialSums& sums, std::initializer_list<SumOutput> outputs) {
    SumOutputs all;
    std::copy(outputs.begin(), outputs.end(), all.of);
    const auto count = static_cast<int>(outputs.size());
    const Grid grid{dim3(block_count((count * sums.columns + kColumns - 1) / kColumns)), kLines * kColumns,
                    kReduceBytes + kLines * kColumns * sizeof(float)};
    stream.launch(op, add_parts_kernel, grid, sums, all, count);
}

}  // namespace headscope::cuda
