// What the kernels of "Add & Norm" read and write.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/dropout.h"
#include "backends/cuda/storage.h"

namespace headscope::cuda {

// Of rows [.., length]. Counted in 32 bits, since a 64-bit division takes more registers than all else.
constexpr std::int64_t kMostNormRows = 0x7FFFFFFF;

// Drops a pack of a row's columns.
template <int N>
__device__ inline void drop_row(const DropoutKernel& rule, std::int64_t row, std::int64_t length, std::int64_t column,
                                float (&values)[N]) {
    const auto index = static_cast<std::uint32_t>(row);
    const std::uint32_t batch = index / static_cast<std::uint32_t>(length);
    drop<N>(rule, batch, 0, index - batch * static_cast<std::uint32_t>(length), column, values);
}

template <class T>
struct NormForward {
    const T* x;         // [rows, columns]
    const T* residual;  // the same, or null
    const float* gain;  // [columns]
    const float* bias;  // the same, or null
    T* sum;             // out [rows, columns]
    T* y;               // out
    float* mean;        // out [rows], or null for RMS norm
    float* rstd;        // out [rows]
    std::int64_t rows;
    std::int64_t length;
    std::int64_t columns;
    float epsilon;
    DropoutKernel dropout;
};

template <class T>
struct NormBackward {
    const T* sum;       // [rows, columns]
    const float* gain;  // [columns]
    const float* mean;  // [rows], or null for RMS norm
    const float* rstd;
    const T* grad_y;        // as sum, or null
    const T* grad_sum_out;  // as sum, or null
    T* grad_x;              // out as sum, or null
    T* grad_residual;       // out as sum, or null
    float* partial;         // out [parts, sums(), columns]: of the gradients of gain and bias, and of grad_x
    std::int64_t rows;
    std::int64_t length;
    std::int64_t columns;
    bool accumulate_x;
    bool accumulate_residual;
    bool sums_x;  // whether grad_x is summed
    DropoutKernel dropout;

    __host__ __device__ std::int64_t sums() const { return sums_x ? 3 : 2; }
    __device__ float mean_of(std::int64_t row) const { return mean == nullptr ? 0.0F : mean[row]; }

    // The gradient of a pack of the norm's input goes where it is wanted. Becomes the pack of grad_x, if there is one.
    template <int N>
    __device__ void write(std::int64_t row, std::int64_t column, float (&grad_sum)[N]) const {
        const std::int64_t first = row * columns + column;
        if (grad_residual != nullptr) {
            store<N>(grad_sum, grad_residual + first, accumulate_residual);
        }
        if (grad_x != nullptr) {
            drop_row<N>(dropout, row, length, column, grad_sum);
            store_sum<N>(grad_sum, grad_x + first, accumulate_x);
        }
    }
};

}  // namespace headscope::cuda
