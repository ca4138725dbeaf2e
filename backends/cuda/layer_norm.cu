// "Add & Norm" with one block for each row; its backward with one block for a part of the rows, which also sums the
// gradients of gain and bias, and grad_x. Paper 3.1.
//
// Rule: sum, y, mean and rstd are overwritten; each gradient has a Write of its own. sum may be x or residual. A row's
// sums are in F32 over unrounded values; grad_gain and grad_bias sum fixed parts of the rows, then the parts.
#include <algorithm>

#include "backend/compositions.h"
#include "backend/ops/layer_norm.h"
#include "backends/cuda/column_sums.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/layer_norm.h"
#include "backends/cuda/layer_norm_warps.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

// A thread keeps its own columns, so that only the reductions wait for others.
template <int N, class Body>
__device__ inline void for_columns(std::int64_t columns, const Body& body) {
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * N; c < columns;
         c += static_cast<std::int64_t>(blockDim.x) * N) {
        body(c);
    }
}

template <class T, int N>
__global__ void add_layer_norm(NormForward<T> p, bool cached) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const std::int64_t first = row * p.columns;
    auto* cache = shared_rest<float>();
    float total = 0.0F;
    for_columns<N>(p.columns, [&](std::int64_t c) {
        float values[N];
        load<N>(p.x + first + c, values);
        drop_row<N>(p.dropout, row, p.length, c, values);
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
        if (cached) {
            store<N>(values, cache + c);
        }
    });
    const auto load_sum = [&](std::int64_t c, float(&values)[N]) {
        if (cached) {
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

// mean(g) and mean(g * n) of one row, with g = gain * grad_y and n the normalised row. RMS norm has no mean(g).
template <class T, int N>
__device__ inline void row_means(const NormBackward<T>& p, std::int64_t row, float mean, float rstd, float& plain,
                                 float& weighted) {
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
            weighted += g * (sum[i] - mean) * rstd;
        }
    });
    plain = p.mean == nullptr ? 0.0F : reduce_block(plain, Sum()) / static_cast<float>(p.columns);
    weighted = reduce_block(weighted, Sum()) / static_cast<float>(p.columns);
}

// Where a block sums the gradients of gain and bias, and grad_x. In shared memory neighbouring threads have
// neighbouring places.
template <int N, bool Cached>
struct PartPlaces {
    float* gain;
    float* bias;
    float* x;
    std::int64_t columns;

    __device__ std::int64_t of(std::int64_t c, int i) const { return Cached ? i * (columns / N) + c / N : c + i; }
};

// The gradient of the norm's input, and the row's terms of the gradients of gain and bias.
template <class T, int N, bool Cached>
__device__ inline void row_gradient(const NormBackward<T>& p, std::int64_t row, const PartPlaces<N, Cached>& parts) {
    const std::int64_t first = row * p.columns;
    const float mean = p.mean_of(row);
    const float rstd = p.rstd[row];
    float plain = 0.0F;
    float weighted = 0.0F;
    if (p.grad_y != nullptr) {
        row_means<T, N>(p, row, mean, rstd, plain, weighted);
    }
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
                const float n = (sum[i] - mean) * rstd;
                grad_sum[i] += rstd * (gain[i] * grad[i] - plain - n * weighted);
                parts.gain[parts.of(c, i)] += grad[i] * n;
                parts.bias[parts.of(c, i)] += grad[i];
            }
        }
        p.template write<N>(row, c, grad_sum);
        for (int i = 0; i < N && p.sums_x; ++i) {
            parts.x[parts.of(c, i)] += grad_sum[i];
        }
    });
}

template <class T, int N, bool Cached>
__global__ void add_layer_norm_backward(NormBackward<T> p, std::int64_t rows_of_part) {
    after_previous();
    float* partial = p.partial + static_cast<std::int64_t>(blockIdx.x) * p.sums() * p.columns;
    float* sums = Cached ? shared_rest<float>() : partial;
    const PartPlaces<N, Cached> parts{sums, sums + p.columns, sums + 2 * p.columns, p.columns};
    for_columns<N>(p.columns, [&](std::int64_t c) {
        for (int i = 0; i < N; ++i) {
            for (std::int64_t sum = 0; sum < p.sums(); ++sum) {
                sums[sum * p.columns + parts.of(c, i)] = 0.0F;
            }
        }
    });
    const std::int64_t begin = blockIdx.x * rows_of_part;
    const std::int64_t end = begin + rows_of_part < p.rows ? begin + rows_of_part : p.rows;
    for (std::int64_t row = begin; row < end; ++row) {
        row_gradient<T, N, Cached>(p, row, parts);
    }
    if (Cached) {
        for_columns<N>(p.columns, [&](std::int64_t c) {
            for (int i = 0; i < N; ++i) {
                for (std::int64_t sum = 0; sum < p.sums(); ++sum) {
                    partial[sum * p.columns + c + i] = sums[sum * p.columns + parts.of(c, i)];
                }
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
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const std::int64_t columns = op.x.dim(2);
    HEADSCOPE_CHECK(rows <= kMostNormRows, "too many rows for one norm: " + op.x.to_string());
    const bool in_warps = kernels_.allow(Kernel::LayerNorm, compiled_) && norms_in_warps(columns);
    visit_rows(AddLayerNorm::kName, op.x.dtype, columns, {&op.x, &op.residual, &op.gain, &op.bias, &op.sum, &op.y},
               [&](auto tag, auto width) {
                   using T = decltype(tag);
                   constexpr int kWidth = decltype(width)::value;
                   const NormForward<T> norm{data_of<T>(op.x),
                                             data_of<T>(op.residual),
                                             data_of<float>(op.gain),
                                             data_of<float>(op.bias),
                                             data_of<T>(op.sum),
                                             data_of<T>(op.y),
                                             data_of<float>(op.mean),
                                             data_of<float>(op.rstd),
                                             rows,
                                             op.x.dim(1),
                                             columns,
                                             op.epsilon,
                                             dropout_kernel(op.dropout)};
                   if (in_warps && kWidth > 1) {
                       launch_norm_in_warps(stream_, norm, multiprocessors_);
                       return;
                   }
                   const bool cached = fits_shared(columns);
                   const Grid grid =
                       row_grid(rows, columns, kWidth, cached ? static_cast<std::size_t>(columns) * sizeof(float) : 0);
                   stream_.launch(AddLayerNorm::kName, add_layer_norm<T, kWidth>, grid, norm, cached);
               });
}

void CudaBackend::run(const AddLayerNormBackward& op) {
    if (op.grad_x_sums.defined() && !kernels_.allow(Kernel::BiasSums, compiled_)) {
        AddLayerNormBackward alone = op;
        alone.grad_x_sums = {};
        run(alone);
        sum_columns(*this, op.grad_x, op.grad_x_sums, op.write_x_sums);
        return;
    }
    const std::int64_t rows = op.sum.dim(0) * op.sum.dim(1);
    const std::int64_t columns = op.sum.dim(2);
    if (columns == 0) {
        return;
    }
    HEADSCOPE_CHECK(rows <= kMostNormRows, "too many rows for one norm: " + op.sum.to_string());
    const bool in_warps =
        kernels_.allow(Kernel::LayerNormBackward, compiled_) && norms_in_warps(columns) && op.grad_y.defined();
    const auto rows_grid = row_parts_grid(rows, 1, 1, multiprocessors_).blocks.y;
    const auto parts = static_cast<std::int64_t>(std::max(rows_grid, norm_blocks(rows, multiprocessors_)));
    const bool sums_x = op.grad_x_sums.defined();
    const std::int64_t width_of_part = (sums_x ? 3 : 2) * columns;
    const auto partial = scratch(static_cast<std::size_t>(parts * width_of_part) * sizeof(float));
    auto* sums = reinterpret_cast<float*>(partial->data());
    auto used = static_cast<std::int64_t>(rows_grid);
    visit_rows(
        AddLayerNormBackward::kName, op.sum.dtype, columns,
        {&op.sum, &op.gain, &op.grad_y, &op.grad_sum_out, &op.grad_x, &op.grad_residual}, [&](auto tag, auto width) {
            using T = decltype(tag);
            constexpr int kWidth = decltype(width)::value;
            const NormBackward<T> norm{data_of<T>(op.sum),
                                       data_of<float>(op.gain),
                                       data_of<float>(op.mean),
                                       data_of<float>(op.rstd),
                                       data_of<T>(op.grad_y),
                                       data_of<T>(op.grad_sum_out),
                                       data_of<T>(op.grad_x),
                                       data_of<T>(op.grad_residual),
                                       sums,
                                       rows,
                                       std::max<std::int64_t>(op.sum.dim(1), 1),
                                       columns,
                                       op.write_x == Write::Accumulate,
                                       op.write_residual == Write::Accumulate,
                                       sums_x,
                                       dropout_kernel(op.dropout)};
            if (in_warps && kWidth > 1) {
                used = launch_norm_in_warps(stream_, norm, multiprocessors_);
                return;
            }
            const std::int64_t rows_of_part = (rows + used - 1) / used;
            if (fits_shared(width_of_part)) {
                stream_.launch(AddLayerNormBackward::kName, add_layer_norm_backward<T, kWidth, true>,
                               row_grid(used, columns, kWidth, static_cast<std::size_t>(width_of_part) * sizeof(float)),
                               norm, rows_of_part);
            } else {
                stream_.launch(AddLayerNormBackward::kName, add_layer_norm_backward<T, kWidth, false>,
                               row_grid(used, columns, kWidth, 0), norm, rows_of_part);
            }
        });
    const PartialSums partial_sums{sums, static_cast<int>(used), width_of_part, columns};
    const SumOutput gain{data_of<float>(op.grad_gain), op.write_gain == Write::Accumulate};
    const SumOutput bias{data_of<float>(op.grad_bias), op.write_bias == Write::Accumulate};
    if (sums_x) {
        add_parts(stream_, AddLayerNormBackward::kName, partial_sums,
                  {gain, bias, {data_of<float>(op.grad_x_sums), op.write_x_sums == Write::Accumulate}});
    } else {
        add_parts(stream_, AddLayerNormBackward::kName, partial_sums, {gain, bias});
    }
}

}  // namespace headscope::cuda
