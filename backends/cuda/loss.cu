// Cross-entropy with label smoothing and its gradient, one block for each row. Paper 5.4.
//
// Rule: loss, nll and grad_logits are overwritten. grad_logits may be logits. A row's maximum and sum are in F32, in an
// order that the number of classes alone decides; pads give 0.
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

constexpr unsigned kLossThreads = 512;  // a vocabulary is a long row

template <class T>
struct LossKernel {
    const T* logits;              // [rows, classes]
    const std::int32_t* targets;  // [rows]
    float* loss;                  // out [rows]
    float* nll;                   // out [rows]
    T* grad_logits;               // out as logits, may be logits; or null
    const float* grad_scale;      // [1], or null for 1
    const float* prior;           // [classes], or null: even
    std::int64_t classes;
    float hit;    // the smoothed target of the true class
    float other;  // and of each other class; with a prior: what it shares out, and what the true class has beside it
};

template <class T, int N>
__device__ inline void fill_row(T* row, std::int64_t columns, float value) {
    float values[N];
    for (int i = 0; i < N; ++i) {
        values[i] = value;
    }
    for (std::int64_t c = threadIdx.x * N; c < columns; c += blockDim.x * N) {
        store<N>(values, row + c);
    }
}

__device__ inline float rescale(float from, float to) {
    return from == to ? 1.0F : expf(from - to);  // also if both are infinite
}

// With l = logits - max and z = log sum exp l:  -log p[c] = z - l[c].
template <class T, int N>
__global__ void __launch_bounds__(kLossThreads) smoothed_cross_entropy(LossKernel<T> p) {
    const std::int64_t row = blockIdx.x;
    const T* logits = p.logits + row * p.classes;
    T* grad = p.grad_logits == nullptr ? nullptr : p.grad_logits + row * p.classes;
    const std::int64_t target = p.targets[row];
    if (target < 0 || target >= p.classes) {  // a pad, or an invalid target
        const float value = target == -1 ? 0.0F : NAN;
        if (grad != nullptr) {
            fill_row<T, N>(grad, p.classes, value);
        }
        if (threadIdx.x == 0) {
            p.loss[row] = value;
            p.nll[row] = value;
        }
        return;
    }
    // One pass for the maximum and the sum of exponentials, which is rescaled when the maximum grows.
    float largest = -INFINITY;
    float total = 0.0F;
    for (std::int64_t c = threadIdx.x * N; c < p.classes; c += blockDim.x * N) {
        float values[N];
        load<N>(logits + c, values);
        float most = largest;
        for (int i = 0; i < N; ++i) {
            most = Maximum()(most, values[i]);
        }
        total *= rescale(largest, most);
        for (int i = 0; i < N; ++i) {
            total += most == -INFINITY ? 0.0F : expf(values[i] - most);  // only -inf so far
        }
        largest = most;
    }
    const float most = reduce_block(largest, Maximum());
    const bool seen = threadIdx.x * N < p.classes;
    total = reduce_block(seen ? total * rescale(largest, most) : 0.0F, Sum());
    const float z = logf(total);
    const float target_l = to_float(logits[target]) - most;
    __syncthreads();  // grad may be logits
    const float scale = p.grad_scale == nullptr ? 1.0F : *p.grad_scale;
    float below = 0.0F;  // the sum of max - logits, each term >= 0
    for (std::int64_t c = threadIdx.x * N; c < p.classes; c += blockDim.x * N) {
        float values[N];
        load<N>(logits + c, values);
        for (int i = 0; i < N; ++i) {
            const float l = values[i] - most;
            float wanted = c + i == target ? p.hit : p.other;
            if (p.prior == nullptr) {
                below -= l;
            } else {
                const float share = p.prior[c + i];
                below -= share == 0.0F ? 0.0F : share * l;  // 0 also of -inf
                wanted = p.other * share + (c + i == target ? p.hit : 0.0F);
            }
            values[i] = scale * (expf(l) / total - wanted);
        }
        if (grad != nullptr) {
            store<N>(values, grad + c);
        }
    }
    below = reduce_block(below, Sum());
    if (threadIdx.x == 0) {
        const float nll = z - target_l;
        const bool even = p.prior == nullptr;
        const float sharing = even ? static_cast<float>(p.classes) : 1.0F;
        const float smoothed = (even ? p.hit - p.other : p.hit) * nll + p.other * (sharing * z + below);
        p.nll[row] = nll;
        p.loss[row] = p.other == 0.0F ? p.hit * nll : smoothed;
    }
}

}  // namespace

void CudaBackend::run(const SmoothedCrossEntropy& op) {
    const std::int64_t classes = op.logits.dim(1);
    if (op.logits.elements() == 0) {
        return;
    }
    const float* prior = op.epsilon == 0.0F ? nullptr : data_of<float>(op.prior);
    const bool all = op.smoothing == Smoothing::AllClasses;
    const auto sharing = static_cast<float>(all ? classes : classes - 1);
    const float even = op.epsilon == 0.0F ? 0.0F : op.epsilon / sharing;
    const float other = prior == nullptr ? even : op.epsilon;
    const float hit = all && prior == nullptr ? 1.0F - op.epsilon + other : 1.0F - op.epsilon;
    visit_rows(SmoothedCrossEntropy::kName, op.logits.dtype, classes, {&op.logits, &op.grad_logits},
               [&](auto tag, auto width) {
                   using T = decltype(tag);
                   constexpr int kWidth = decltype(width)::value;
                   stream_.launch(
                       SmoothedCrossEntropy::kName, smoothed_cross_entropy<T, kWidth>,
                       row_grid(op.logits.dim(0), classes, kWidth, 0, kLossThreads),
                       LossKernel<T>{data_of<T>(op.logits), data_of<std::int32_t>(op.targets), data_of<float>(op.loss),
                                     data_of<float>(op.nll), data_of<T>(op.grad_logits), data_of<float>(op.grad_scale),
                                     prior, classes, hit, other});
               });
}

}  // namespace headscope::cuda
