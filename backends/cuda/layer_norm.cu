// "Add & Norm" with one block for each row; its backward with one block for a part of the rows, which also sums the
// gradients of gain and bias. Paper 3.1.
//
// Rule: sum, y, mean and rstd are overwritten; each gradient has a Write of its own. sum may be x or residual. A row's
// sums are in F32 over unrounded values; grad_gain and grad_bias sum fixed parts of the rows, then the parts.
#include <algorithm>

#include "backends/cuda/column_sums.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

template <class T>
struct Forward {
    const T* x;         // [rows, columns]
    const T* residual;  // the same, or null
    const float* gain;  // [columns]
    const float* bias;  // the same, or null
    T* sum;             // out [rows, columns]
    T* y;               // out
    float* mean;        // out [rows], or null for RMS norm
    float* rstd;        // out [rows]
    std::int64_t length;
    std::int64_t columns;
    float epsilon;
    bool cached;  // a row fits shared memory
    DropoutKernel dropout;
};

// A thread keeps its own columns, so that only the reductions wait for others.
template <int N, class Body>
__device__ inline void for_columns(std::int64_t columns, const Body& body) {
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * N; c < columns;
         c += static_cast<std::int64_t>(blockDim.x) * N) {
        body(c);
    }
}

template <class T, int N>
__global__ void add_layer_norm(Forward<T> p) {
    const std::int64_t row = blockIdx.x;
    const std::int64_t first = row * p.columns;
    auto* cache = shared_rest<float>();
    float total = 0.0F;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float values[N];
        load<N>(p.x + first + c, values);
        drop<N>(p.dropout, row / p.length, 0, row % p.length, c, values);
        if (p.residual != nullptr) {
            float residual[N];
            load<N>(p.residual + first + c, residual);
            for (int i = 0; i < N; ++i) {
                values[i] += residual[i];
            }
        }
        store<N>(values, p.sum + first + c);
        for (int i = 0; i < N; ++i) {
            total += values[i];
        }
        if (p.cached) {
            store<N>(values, cache + c);
        }
    });
    const auto load_sum = [&](std::int64_t c, float(&values)[N]) {
        if (p.cached) {
            load<N>(cache + c, values);
        } else {
            load<N>(p.sum + first + c, values);
        }
    };
    const auto count = static_cast<float>(p.columns);
    const float mean = p.mean == nullptr ? 0.0F : reduce_block(total, Sum()) / count;
    float squares = 0.0F;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float values[N];
        load_sum(c, values);
        for (int i = 0; i < N; ++i) {
            squares += (values[i] - mean) * (values[i] - mean);
        }
    });
    const float rstd = 1.0F / sqrtf(reduce_block(squares, Sum()) / count + p.epsilon);
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float values[N];
        float gain[N];
        float bias[N] = {};
        load_sum(c, values);
        load<N>(p.gain + c, gain);
        if (p.bias != nullptr) {
            load<N>(p.bias + c, bias);
        }
        for (int i = 0; i < N; ++i) {
            values[i] = gain[i] * (values[i] - mean) * rstd + bias[i];
        }
        store<N>(values, p.y + first + c);
    });
    if (threadIdx.x == 0) {
        if (p.mean != nullptr) {
            p.mean[row] = mean;
        }
        p.rstd[row] = rstd;
    }
}

template <class T>
struct Backward {
    const T* sum;       // [rows, columns]
    const float* gain;  // [columns]
    const float* mean;  // [rows], or null for RMS norm
    const float* rstd;
    const T* grad_y;        // as sum, or null
    const T* grad_sum_out;  // as sum, or null
    T* grad_x;              // out as sum, or null
    T* grad_residual;       // out as sum, or null
    float* partial;         // out [parts, 2, columns]: of the gradients of gain and bias
    std::int64_t rows;
    std::int64_t rows_of_part;
    std::int64_t length;
    std::int64_t columns;
    bool cached;  // the partial sums fit shared memory
    bool accumulate_x;
    bool accumulate_residual;
    DropoutKernel dropout;

    __device__ float mean_of(std::int64_t row) const { return mean == nullptr ? 0.0F : mean[row]; }
};

// mean(g) and mean(g * n) of one row, with g = gain * grad_y and n the normalised row. RMS norm has no mean(g).
template <class T, int N>
__device__ inline void row_means(const Backward<T>& p, std::int64_t row, float& plain, float& weighted) {
    plain = 0.0F;
    weighted = 0.0F;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float sum[N];
        float grad[N];
        float gain[N];
        load<N>(p.sum + row * p.columns + c, sum);
        load<N>(p.grad_y + row * p.columns + c, grad);
        load<N>(p.gain + c, gain);
        for (int i = 0; i < N; ++i) {
            const float g = gain[i] * grad[i];
            plain += g;
            weighted += g * (sum[i] - p.mean_of(row)) * p.rstd[row];
        }
    });
    plain = p.mean == nullptr ? 0.0F : reduce_block(plain, Sum()) / static_cast<float>(p.columns);
    weighted = reduce_block(weighted, Sum()) / static_cast<float>(p.columns);
}

// The gradient of the norm's input, and the row's terms of the gradients of gain and bias.
template <class T, int N>
__device__ inline void row_gradient(const Backward<T>& p, std::int64_t row, float plain, float weighted,
                                    float* grad_gain, float* grad_bias) {
    const std::int64_t first = row * p.columns;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float grad_sum[N] = {};
        if (p.grad_sum_out != nullptr) {
            load<N>(p.grad_sum_out + first + c, grad_sum);
        }
        if (p.grad_y != nullptr) {
            float sum[N];
            float grad[N];
            float gain[N];
            load<N>(p.sum + first + c, sum);
            load<N>(p.grad_y + first + c, grad);
            load<N>(p.gain + c, gain);
            for (int i = 0; i < N; ++i) {
                const float n = (sum[i] - p.mean_of(row)) * p.rstd[row];
                grad_sum[i] += p.rstd[row] * (gain[i] * grad[i] - plain - n * weighted);
                grad_gain[c + i] += grad[i] * n;
                grad_bias[c + i] += grad[i];
            }
        }
        if (p.grad_residual != nullptr) {
            store<N>(grad_sum, p.grad_residual + first + c, p.accumulate_residual);
        }
        if (p.grad_x != nullptr) {
            drop<N>(p.dropout, row / p.length, 0, row % p.length, c, grad_sum);
            store<N>(grad_sum, p.grad_x + first + c, p.accumulate_x);
        }
    });
}

template <class T, int N>
__global__ void add_layer_norm_backward(Backward<T> p) {
    float* partial = p.partial + static_cast<std::int64_t>(blockIdx.x) * 2 * p.columns;
    float* grad_gain = p.cached ? shared_rest<float>() : partial;
    float* grad_bias = grad_gain + p.columns;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        for (int i = 0; i < N; ++i) {
            grad_gain[c + i] = 0.0F;
            grad_bias[c + i] = 0.0F;
        }
    });
    const std::int64_t begin = blockIdx.x * p.rows_of_part;
    const std::int64_t end = begin + p.rows_of_part < p.rows ? begin + p.rows_of_part : p.rows;
    for (std::int64_t row = begin; row < end; ++row) {
        float plain = 0.0F;
        float weighted = 0.0F;
        if (p.grad_y != nullptr) {
            row_means<T, N>(p, row, plain, weighted);
        }
        row_gradient<T, N>(p, row, plain, weighted, grad_gain, grad_bias);
    }
    if (p.cached) {
        for_columns<N>(p.columns, [&](std::int64_t c) {
            for (int i = 0; i < N; ++i) {
                partial[c + i] = grad_gain[c + i];
                partial[p.columns + c + i] = grad_bias[c + i];
            }
        });
    }
}

// Available to blocks on every device, including a P100.
constexpr std::size_t kSharedBytes = 48 * 1024;

bool fits_shared(std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float) + kReduceBytes <= kSharedBytes;
}

}  // namespace

void CudaBackend::run(const AddLayerNorm& op) {
    if (op.x.elements() == 0) {
        return;
    }
    const std::int64_t columns = op.x.dim(2);
    visit_rows(AddLayerNorm::kName, op.x.dtype, columns, {&op.x, &op.residual, &op.gain, &op.bias, &op.sum, &op.y},
               [&](auto tag, auto width) {
                   using T = decltype(tag);
                   constexpr int kWidth = decltype(width)::value;
                   const bool cached = fits_shared(columns);
                   const Grid grid = row_grid(op.x.dim(0) * op.x.dim(1), columns, kWidth,
                                              cached ? static_cast<std::size_t>(columns) * sizeof(float) : 0);
                   stream_.launch(AddLayerNorm::kName, add_layer_norm<T, kWidth>, grid,
                                  Forward<T>{data_of<T>(op.x), data_of<T>(op.residual), data_of<float>(op.gain),
                                             data_of<float>(op.bias), data_of<T>(op.sum), data_of<T>(op.y),
                                             data_of<float>(op.mean), data_of<float>(op.rstd), op.x.dim(1), columns,
                                             op.epsilon, cached, dropout_kernel(op.dropout)});
               });
}

void CudaBackend::run(const AddLayerNormBackward& op) {
    const std::int64_t rows = op.sum.dim(0) * op.sum.dim(1);
    const std::int64_t columns = op.sum.dim(2);
    if (columns == 0) {
        return;
    }
    const Grid parts_grid = row_parts_grid(rows, 1, 1, multiprocessors_);
    const auto parts = static_cast<std::int64_t>(parts_grid.blocks.y);
    const auto partial = scratch(static_cast<std::size_t>(parts * 2 * columns) * sizeof(float));
    auto* sums = reinterpret_cast<float*>(partial->data());
    visit_rows(
        AddLayerNormBackward::kName, op.sum.dtype, columns,
        {&op.sum, &op.gain, &op.grad_y, &op.grad_sum_out, &op.grad_x, &op.grad_residual}, [&](auto tag, auto width) {
            using T = decltype(tag);
            constexpr int kWidth = decltype(width)::value;
            const bool cached = fits_shared(2 * columns);
            const Grid grid =
                row_grid(parts, columns, kWidth, cached ? static_cast<std::size_t>(2 * columns) * sizeof(float) : 0);
            stream_.launch(
                AddLayerNormBackward::kName, add_layer_norm_backward<T, kWidth>, grid,
                Backward<T>{data_of<T>(op.sum), data_of<float>(op.gain), data_of<float>(op.mean),
                            data_of<float>(op.rstd), data_of<T>(op.grad_y), data_of<T>(op.grad_sum_out),
                            data_of<T>(op.grad_x), data_of<T>(op.grad_residual), sums, rows, (rows + parts - 1) / parts,
                            std::max<std::int64_t>(op.sum.dim(1), 1), columns, cached, op.write_x == Write::Accumulate,
                            op.write_residual == Write::Accumulate, dropout_kernel(op.dropout)});
        });
    const PartialSums gain{sums, static_cast<int>(parts), 2 * columns, columns};
    const PartialSums bias{sums + columns, static_cast<int>(parts), 2 * columns, columns};
    add_parts(stream_, AddLayerNormBackward::kName, gain, data_of<float>(op.grad_gain),
              op.write_gain == Write::Accumulate);
    if (op.grad_bias.defined()) {
        add_parts(stream_, AddLayerNormBackward::kName, bias, data_of<float>(op.grad_bias),
                  op.write_bias == Write::Accumulate);
    }
}

}  // namespace headscope::cuda
