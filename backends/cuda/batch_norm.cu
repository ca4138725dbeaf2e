// BatchNorm and its backward: a block has N neighbouring columns, its threads the rows.
//
// Rule: y, mean and rstd are overwritten, the running values moved in place; each gradient has a Write of its own. Sums
// are in F32, in an order that the sizes alone decide.
#include "backend/ops/batch_norm.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

struct Rows {
    const std::int32_t* lengths;  // [batch], or null
    std::int64_t count;
    std::int64_t length;
    std::int64_t columns;
    bool measures;

    __device__ bool is_measured(std::int64_t row) const {
        return measures && (lengths == nullptr || row % length < lengths[row / length]);
    }
    template <class Body>
    __device__ void each(const Body& body) const {
        for (std::int64_t row = threadIdx.x; row < count; row += blockDim.x) {
            body(row);
        }
    }
    __device__ float measured() const {
        float sum = 0.0F;
        each([&](std::int64_t row) { sum += is_measured(row) ? 1.0F : 0.0F; });
        return reduce_block(sum, Sum());
    }
};

template <class Op>
Rows rows_of(const Op& op) {
    return {data_of<std::int32_t>(op.lengths), op.x.dim(0) * op.x.dim(1), op.x.dim(1), op.x.dim(2), op.measures};
}

struct Statistics {
    float* running_mean;  // [columns] each
    float* running_variance;
    float* mean;
    float* rstd;
};

template <int N>
__device__ inline void sum_over_rows(float (&values)[N]) {
    for (int i = 0; i < N; ++i) {
        values[i] = reduce_block(values[i], Sum());
    }
}

template <class T, int N>
__global__ void batch_norm(Rows rows, const T* x, const float* gain, const float* bias, Statistics s, T* y,
                           float epsilon, float momentum) {
    after_previous();
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * N;
    float mean[N];
    float variance[N];
    load<N>(s.running_mean + column, mean);
    load<N>(s.running_variance + column, variance);
    if (rows.measures) {
        const float count = rows.measured();
        float sum[N] = {};
        float squares[N] = {};
        float values[N];
        rows.each([&](std::int64_t row) {
            load<N>(x + row * rows.columns + column, values);
            for (int i = 0; i < N && rows.is_measured(row); ++i) {
                sum[i] += values[i];
            }
        });
        sum_over_rows<N>(sum);
        const float divisor = count > 1.0F ? count : 1.0F;
        rows.each([&](std::int64_t row) {
            load<N>(x + row * rows.columns + column, values);
            for (int i = 0; i < N && rows.is_measured(row); ++i) {
                squares[i] += (values[i] - sum[i] / divisor) * (values[i] - sum[i] / divisor);
            }
        });
        sum_over_rows<N>(squares);
        for (int i = 0; i < N; ++i) {
            const float running_mean = mean[i];
            const float running_variance = variance[i];
            mean[i] = sum[i] / divisor;
            variance[i] = squares[i] / divisor;
            if (threadIdx.x == 0 && count > 1.0F) {
                s.running_mean[column + i] = running_mean + momentum * (mean[i] - running_mean);
                s.running_variance[column + i] =
                    running_variance + momentum * (squares[i] / (count - 1.0F) - running_variance);
            }
        }
    }
    float rstd[N];
    for (int i = 0; i < N; ++i) {
        rstd[i] = 1.0F / sqrtf(variance[i] + epsilon);
    }
    if (threadIdx.x == 0) {
        store<N>(mean, s.mean + column);
        store<N>(rstd, s.rstd + column);
    }
    rows.each([&](std::int64_t row) {
        float values[N];
        load<N>(x + row * rows.columns + column, values);
        for (int i = 0; i < N; ++i) {
            values[i] = gain[column + i] * (values[i] - mean[i]) * rstd[i] + bias[column + i];
        }
        store<N>(values, y + row * rows.columns + column);
    });
}

template <class T>
struct Gradients {
    T* x;         // [rows, columns], or null
    float* gain;  // [columns]
    float* bias;
    bool accumulate_x;
    bool accumulate_gain;
    bool accumulate_bias;
};

template <class T, int N>
__global__ void batch_norm_backward(Rows rows, const T* x, const float* gain, const float* means, const float* rstds,
                                    const T* grad_y, Gradients<T> out) {
    after_previous();
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * N;
    float mean[N];
    float rstd[N];
    load<N>(means + column, mean);
    load<N>(rstds + column, rstd);
    float values[N];
    float grad[N];
    const auto load_row = [&](std::int64_t row) {  // values are normalised
        load<N>(x + row * rows.columns + column, values);
        load<N>(grad_y + row * rows.columns + column, grad);
        for (int i = 0; i < N; ++i) {
            values[i] = (values[i] - mean[i]) * rstd[i];
        }
    };
    float grad_gain[N] = {};
    float grad_bias[N] = {};
    rows.each([&](std::int64_t row) {
        load_row(row);
        for (int i = 0; i < N; ++i) {
            grad_gain[i] += grad[i] * values[i];
            grad_bias[i] += grad[i];
        }
    });
    sum_over_rows<N>(grad_gain);
    sum_over_rows<N>(grad_bias);
    if (out.x != nullptr) {
        const float count = rows.measures ? rows.measured() : 1.0F;
        rows.each([&](std::int64_t row) {
            load_row(row);
            for (int i = 0; i < N; ++i) {
                const float shared = rows.is_measured(row) ? (grad_bias[i] + values[i] * grad_gain[i]) / count : 0.0F;
                grad[i] = gain[column + i] * rstd[i] * (grad[i] - shared);
            }
            store<N>(grad, out.x + row * rows.columns + column, out.accumulate_x);
        });
    }
    if (threadIdx.x == 0) {
        store<N>(grad_gain, out.gain + column, out.accumulate_gain);
        store<N>(grad_bias, out.bias + column, out.accumulate_bias);
    }
}

Grid columns_grid(std::int64_t columns, int width) {
    constexpr std::int64_t kThreads = 256;
    return row_grid(columns / width, kThreads, 1);
}

}  // namespace

void CudaBackend::run(const BatchNorm& op) {
    const std::int64_t columns = op.x.dim(2);
    if (columns == 0) {
        return;
    }
    visit_rows(BatchNorm::kName, op.x.dtype, columns,
               {&op.x, &op.y, &op.running_mean, &op.running_variance, &op.mean, &op.rstd}, [&](auto tag, auto width) {
                   using T = decltype(tag);
                   constexpr int kWidth = decltype(width)::value;
                   stream_.launch(BatchNorm::kName, batch_norm<T, kWidth>, columns_grid(columns, kWidth), rows_of(op),
                                  data_of<T>(op.x), data_of<float>(op.gain), data_of<float>(op.bias),
                                  Statistics{data_of<float>(op.running_mean), data_of<float>(op.running_variance),
                                             data_of<float>(op.mean), data_of<float>(op.rstd)},
                                  data_of<T>(op.y), op.epsilon, op.momentum);
               });
}

void CudaBackend::run(const BatchNormBackward& op) {
    const std::int64_t columns = op.x.dim(2);
    if (columns == 0) {
        return;
    }
    visit_rows(BatchNormBackward::kName, op.x.dtype, columns,
               {&op.x, &op.grad_y, &op.grad_x, &op.mean, &op.rstd, &op.grad_gain, &op.grad_bias},
               [&](auto tag, auto width) {
                   using T = decltype(tag);
                   constexpr int kWidth = decltype(width)::value;
                   stream_.launch(BatchNormBackward::kName, batch_norm_backward<T, kWidth>,
                                  columns_grid(columns, kWidth), rows_of(op), data_of<T>(op.x), data_of<float>(op.gain),
                                  data_of<float>(op.mean), data_of<float>(op.rstd), data_of<T>(op.grad_y),
                                  Gradients<T>{data_of<T>(op.grad_x), data_of<float>(op.grad_gain),
                                               data_of<float>(op.grad_bias), op.write_x == Write::Accumulate,
                                               op.write_gain == Write::Accumulate, op.write_bias == Write::Accumulate});
               });
}

}  // namespace headscope::cuda
