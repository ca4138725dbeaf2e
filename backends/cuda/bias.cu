// Bias with activation and dropout, its backward, and column sums.
//
// Rule: y is overwritten; gradients are added to with Write::Accumulate. None and ReLU work in place, and grad_x may be
// grad_y. Column sums run down fixed parts of the rows, then over the parts: no atomics, equal bits each time.
#include <algorithm>

#include "backend/compositions.h"
#include "backend/ops/bias.h"
#include "backends/cuda/activation.h"
#include "backends/cuda/column_sums.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// x [batch, length, columns] in packs of N columns, one for each thread.
struct Packs {
    std::int64_t count = 0;
    std::int64_t length = 1;
    std::int64_t columns = 1;
};

struct PackPlace {
    std::int64_t first;  // element
    std::int64_t batch;
    std::int64_t position;
    std::int64_t column;
};

template <class Number>
__device__ inline void divide(const Packs& packs, PackPlace& place) {
    const auto first = static_cast<Number>(place.first);
    const auto columns = static_cast<Number>(packs.columns);
    const auto length = static_cast<Number>(packs.length);
    const Number row = first / columns;
    place.column = first - row * columns;
    place.batch = row / length;
    place.position = row - static_cast<Number>(place.batch) * length;
}

template <int N>
__device__ inline bool place_of(const Packs& packs, PackPlace& place) {
    const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= packs.count) {
        return false;
    }
    place.first = pack * N;
    if (packs.count * N <= 0xFFFFFFFF) {  // 32-bit divisions are a tenth of the instructions
        divide<std::uint32_t>(packs, place);
    } else {
        divide<std::uint64_t>(packs, place);
    }
    return true;
}

Packs packs_of(const Tensor& x, int width) {
    return {x.elements() / width, std::max<std::int64_t>(x.dim(1), 1), x.dim(2)};
}

template <class T, int N>
__global__ void bias_activation(Packs packs, const T* x, const float* bias, T* y, Activation activation,
                                DropoutKernel rule) {
    after_previous();
    PackPlace place;
    if (!place_of<N>(packs, place)) {
        return;
    }
    float values[N];
    load<N>(x + place.first, values);
    float shift[N] = {};
    if (bias != nullptr) {
        load<N>(bias + place.column, shift);
    }
    for (int i = 0; i < N; ++i) {
        values[i] = activate(activation, values[i] + shift[i]);
    }
    drop<N>(rule, place.batch, 0, place.position, place.column, values);
    store<N>(values, y + place.first);
}

template <class T>
struct BiasBackward {
    const T* x;         // [rows, columns]
    const float* bias;  // [columns], or null
    const T* grad_y;    // as x
    T* grad_x;          // out as x
    Activation activation;
    DropoutKernel dropout;
    bool accumulate;

    // Writes a pack, which is left in `grads`.
    template <int N>
    __device__ void write(const PackPlace& place, float (&grads)[N]) const {
        float values[N];
        load<N>(x + place.first, values);
        load<N>(grad_y + place.first, grads);
        drop<N>(dropout, place.batch, 0, place.position, place.column, grads);
        float shift[N] = {};
        if (bias != nullptr) {
            load<N>(bias + place.column, shift);
        }
        for (int i = 0; i < N; ++i) {
            grads[i] *= derivative(activation, values[i] + shift[i]);
        }
        store_sum<N>(grads, grad_x + place.first, accumulate);
    }
};

template <class T, int N>
__global__ void bias_activation_backward(Packs packs, BiasBackward<T> p) {
    after_previous();
    PackPlace place;
    if (place_of<N>(packs, place)) {
        float grads[N];
        p.template write<N>(place, grads);
    }
}

// Parts of the rows of x [.., length, columns]: blockIdx.y is the part, a thread has N columns.
struct RowParts {
    std::int64_t rows;
    std::int64_t length;
    std::int64_t columns;
    std::int64_t rows_of_part;
};

// The same with partial[part, c] = the sum of column c over the part.
template <class T, int N>
__global__ void bias_activation_backward_sums(RowParts parts, BiasBackward<T> p, float* partial) {
    after_previous();
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (column >= parts.columns) {
        return;
    }
    const std::int64_t begin = blockIdx.y * parts.rows_of_part;
    const std::int64_t end = begin + parts.rows_of_part < parts.rows ? begin + parts.rows_of_part : parts.rows;
    PackPlace place{begin * parts.columns + column, begin / parts.length, begin % parts.length, column};
    float sum[N] = {};
    for (std::int64_t row = begin; row < end; ++row) {
        float grads[N];
        p.template write<N>(place, grads);
        for (int i = 0; i < N; ++i) {
            sum[i] += grads[i];
        }
        place.first += parts.columns;
        if (++place.position == parts.length) {
            place.position = 0;
            ++place.batch;
        }
    }
    store<N>(sum, partial + blockIdx.y * parts.columns + column);
}

// partial[part, c] = the sum over a part of the rows: blockIdx.y is the part, a thread has N columns.
template <class T, int N>
__global__ void sum_part(const T* x, std::int64_t rows, std::int64_t columns, std::int64_t rows_of_part,
                         float* partial) {
    after_previous();
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (column >= columns) {
        return;
    }
    const std::int64_t begin = blockIdx.y * rows_of_part;
    const std::int64_t end = begin + rows_of_part < rows ? begin + rows_of_part : rows;
    float sum[N] = {};
    for (std::int64_t row = begin; row < end; ++row) {
        float values[N];
        load<N>(x + row * columns + column, values);
        for (int i = 0; i < N; ++i) {
            sum[i] += values[i];
        }
    }
    store<N>(sum, partial + blockIdx.y * columns + column);
}

}  // namespace

void CudaBackend::run(const BiasActivation& op) {
    if (op.x.elements() == 0) {
        return;
    }
    visit_rows(BiasActivation::kName, op.x.dtype, op.x.dim(2), {&op.x, &op.bias, &op.y}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const Packs packs = packs_of(op.x, kWidth);
        stream_.launch(BiasActivation::kName, bias_activation<T, kWidth>, item_grid(packs.count), packs,
                       data_of<T>(op.x), data_of<float>(op.bias), data_of<T>(op.y), op.activation,
                       dropout_kernel(op.dropout));
    });
}

void CudaBackend::run(const BiasActivationBackward& op) {
    if (op.sums.defined() && !kernels_.allow(Kernel::BiasSums, compiled_)) {
        BiasActivationBackward alone = op;
        alone.sums = {};
        run(alone);
        sum_columns(*this, op.grad_x, op.sums, op.write_sums);
        return;
    }
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const std::int64_t columns = op.x.dim(2);
    if (columns == 0 || (rows == 0 && !op.sums.defined())) {
        return;
    }
    visit_rows(
        BiasActivationBackward::kName, op.x.dtype, columns, {&op.x, &op.bias, &op.grad_y, &op.grad_x},
        [&](auto tag, auto width) {
            using T = decltype(tag);
            constexpr int kWidth = decltype(width)::value;
            const BiasBackward<T> backward{
                data_of<T>(op.x), data_of<float>(op.bias),    data_of<T>(op.grad_y),        data_of<T>(op.grad_x),
                op.activation,    dropout_kernel(op.dropout), op.write == Write::Accumulate};
            if (!op.sums.defined()) {
                const Packs packs = packs_of(op.x, kWidth);
                stream_.launch(BiasActivationBackward::kName, bias_activation_backward<T, kWidth>,
                               item_grid(packs.count), packs, backward);
                return;
            }
            constexpr int kBlocksEach = 16;  // half the threads that a multiprocessor can hold
            const Grid grid = row_parts_grid(rows, columns, kWidth, multiprocessors_, kBlocksEach);
            const auto parts = static_cast<std::int64_t>(grid.blocks.y);
            const auto partial = scratch(static_cast<std::size_t>(parts * columns) * sizeof(float));
            auto* sums = reinterpret_cast<float*>(partial->data());
            stream_.launch(BiasActivationBackward::kName, bias_activation_backward_sums<T, kWidth>, grid,
                           RowParts{rows, std::max<std::int64_t>(op.x.dim(1), 1), columns, (rows + parts - 1) / parts},
                           backward, sums);
            add_parts(stream_, BiasActivationBackward::kName, {sums, static_cast<int>(parts), columns, columns},
                      {{data_of<float>(op.sums), op.write_sums == Write::Accumulate}});
        });
}

void CudaBackend::run(const SumRows& op) {
    const std::int64_t rows = op.x.dim(0);
    const std::int64_t columns = op.x.dim(1);
    if (columns == 0) {
        return;
    }
    visit_rows(SumRows::kName, op.x.dtype, columns, {&op.x}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const Grid across = row_parts_grid(rows, columns, kWidth, multiprocessors_);
        const auto parts = static_cast<std::int64_t>(across.blocks.y);
        const auto partial = scratch(static_cast<std::size_t>(parts * columns) * sizeof(float));
        auto* sums = reinterpret_cast<float*>(partial->data());
        stream_.launch(SumRows::kName, sum_part<T, kWidth>, across, data_of<T>(op.x), rows, columns,
                       (rows + parts - 1) / parts, sums);
        add_parts(stream_, SumRows::kName, {sums, static_cast<int>(parts), columns, columns},
                  {{data_of<float>(op.out), op.write == Write::Accumulate}});
    });
}

}  // namespace headscope::cuda
