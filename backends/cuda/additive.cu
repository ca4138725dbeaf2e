// AdditiveScores: each thread has one score. Its backward: each thread has N neighbouring columns of a row of x.
//
// Rule: scores and products are overwritten; grad_x is added to with Write::Accumulate. Nothing is in place. Sums over
// columns, keys and queries have one fixed order.
#include <algorithm>
#include <initializer_list>

#include "backend/ops/additive.h"
#include "backends/cuda/activation.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// Rows of a tensor [batch, heads, rows, columns].
template <class T>
struct HeadRows {
    T* first;
    std::int64_t strides[3];

    explicit HeadRows(const Tensor& tensor)
        : first(data_of<T>(tensor)), strides{tensor.stride(0), tensor.stride(1), tensor.stride(2)} {}
    __device__ T* row(std::int64_t batch, std::int64_t head, std::int64_t row) const {
        return first + batch * strides[0] + head * strides[1] + row * strides[2];
    }
};

template <class T>
struct ScoresKernel {
    HeadRows<T> q, k;
    const float* gain;
    T* scores;
    std::int64_t count, heads, queries, keys, depth;
};

template <class T, int N>
__global__ void additive_scores(ScoresKernel<T> p) {
    after_previous();
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= p.count) {
        return;
    }
    const std::int64_t row = index / p.keys;
    const std::int64_t plane = row / p.queries;
    const std::int64_t batch = plane / p.heads;
    const std::int64_t head = plane - batch * p.heads;
    const T* q = p.q.row(batch, head, row - plane * p.queries);
    const T* k = p.k.row(batch, head, index - row * p.keys);
    float sum = 0.0F;
    for (std::int64_t column = 0; column < p.depth; column += N) {
        float query[N];
        float key[N];
        load<N>(q + column, query);
        load<N>(k + column, key);
        for (int i = 0; i < N; ++i) {
            sum += p.gain[head * p.depth + column + i] * squash(query[i] + key[i]);
        }
    }
    store<1>({sum}, p.scores + index);
}

template <class T>
struct ScoresBackwardKernel {
    HeadRows<T> x, others, grad_x;
    const float* gain;
    const T* grad_scores;
    float* products;  // or null
    std::int64_t packs, heads, rows, other_rows, depth;
    std::int64_t grad_row, grad_other;  // steps in grad_scores
    bool accumulates;
};

template <class T, int N>
__global__ void additive_scores_backward(ScoresBackwardKernel<T> p) {
    after_previous();
    const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= p.packs) {
        return;
    }
    const std::int64_t row = pack * N / p.depth;  // of all heads
    const std::int64_t column = pack * N - row * p.depth;
    const std::int64_t plane = row / p.rows;
    const std::int64_t place = row - plane * p.rows;
    const std::int64_t batch = plane / p.heads;
    const std::int64_t head = plane - batch * p.heads;
    float own[N];
    load<N>(p.x.row(batch, head, place) + column, own);
    const T* grads = p.grad_scores + plane * p.rows * p.other_rows + place * p.grad_row;
    float slopes[N] = {};
    float sums[N] = {};
    for (std::int64_t j = 0; j < p.other_rows; ++j) {
        float other[N];
        load<N>(p.others.row(batch, head, j) + column, other);
        float grad[1];
        load<1>(grads + j * p.grad_other, grad);
        for (int i = 0; i < N; ++i) {
            const float squashed = squash(own[i] + other[i]);
            slopes[i] += grad[0] * (1.0F - squashed * squashed);
            sums[i] += grad[0] * squashed;
        }
    }
    for (int i = 0; i < N; ++i) {
        slopes[i] *= p.gain[head * p.depth + column + i];
    }
    store<N>(slopes, p.grad_x.row(batch, head, place) + column, p.accumulates);
    if (p.products != nullptr) {
        float* const to = p.products + ((batch * p.rows + place) * p.heads + head) * p.depth + column;
        for (int i = 0; i < N; ++i) {
            to[i] = sums[i];
        }
    }
}

// Calls visit(T{}, Width<N>{}) as visit_rows(), for rows with strides.
template <class Visit>
void visit_head_rows(const char* op, std::initializer_list<const Tensor*> tensors, const Visit& visit) {
    const Tensor& first = **tensors.begin();
    const std::int64_t width = static_cast<std::int64_t>(16 / size_of(first.dtype));
    const bool even = std::all_of(tensors.begin(), tensors.end(), [&](const Tensor* tensor) {
        return tensor->stride(0) % width == 0 && tensor->stride(1) % width == 0 && tensor->stride(2) % width == 0;
    });
    visit_rows(op, first.dtype, even ? first.dim(3) : 1, tensors, visit);
}

}  // namespace

void CudaBackend::run(const AdditiveScores& op) {
    const std::int64_t count = op.scores.elements();
    if (count == 0) {
        return;
    }
    visit_head_rows(AdditiveScores::kName, {&op.q, &op.k}, [&](auto tag, auto width) {
        using T = decltype(tag);
        stream_.launch(
            AdditiveScores::kName, additive_scores<T, decltype(width)::value>, item_grid(count),
            ScoresKernel<T>{HeadRows<T>(op.q), HeadRows<T>(op.k), data_of<float>(op.gain), data_of<T>(op.scores), count,
                            op.q.dim(1), op.q.dim(2), op.k.dim(2), op.q.dim(3)});
    });
}

void CudaBackend::run(const AdditiveScoresBackward& op) {
    if (op.x.elements() == 0) {
        return;
    }
    visit_head_rows(AdditiveScoresBackward::kName, {&op.x, &op.others, &op.grad_x}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const std::int64_t packs = op.x.elements() / kWidth;
        const std::int64_t others = op.others.dim(2);
        stream_.launch(
            AdditiveScoresBackward::kName, additive_scores_backward<T, kWidth>, item_grid(packs),
            ScoresBackwardKernel<T>{HeadRows<T>(op.x), HeadRows<T>(op.others), HeadRows<T>(op.grad_x),
                                    data_of<float>(op.gain), data_of<T>(op.grad_scores), data_of<float>(op.products),
                                    packs, op.x.dim(1), op.x.dim(2), others, op.x.dim(3), op.of_keys ? 1 : others,
                                    op.of_keys ? op.x.dim(2) : 1, op.write == Write::Accumulate});
    });
}

}  // namespace headscope::cuda
