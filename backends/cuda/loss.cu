// Cross-entropy with label smoothing and its gradient, one block for each row. Paper 5.4.
//
// Rule: loss, nll and grad_logits are overwritten. grad_logits may be logits. A row's maximum and sum are in F32, in an
// order that the number of classes alone decides; pads give 0.
#include "backend/ops/loss.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/unrolled.h"
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
    const float* weights;         // [rows], or null for 1
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

// What a row without a target, or with an invalid one, gets. False for any other.
template <class T, int N>
__device__ inline bool leave_out(const LossKernel<T>& p, std::int64_t row, std::int64_t target) {
    if (0 <= target && target < p.classes) {
        return false;
    }
    const float value = target == -1 ? 0.0F : NAN;
    if (p.grad_logits != nullptr) {
        fill_row<T, N>(p.grad_logits + row * p.classes, p.classes, value);
    }
    if (threadIdx.x == 0) {
        p.loss[row] = value;
        p.nll[row] = value;
    }
    return true;
}

template <class T>
__device__ inline float weight_of(const LossKernel<T>& p, std::int64_t row) {
    return p.weights == nullptr ? 1.0F : p.weights[row];
}

template <class T>
__device__ inline float grad_scale_of(const LossKernel<T>& p, std::int64_t row) {
    return weight_of(p, row) * (p.grad_scale == nullptr ? 1.0F : *p.grad_scale);
}

// With z = log sum exp(logits - max): `target_l` is the target's logit - max, `below` the sum of max - logits.
template <class T>
__device__ inline void write_loss(const LossKernel<T>& p, std::int64_t row, float z, float target_l, float below) {
    const float nll = z - target_l;
    const bool even = p.prior == nullptr;
    const float sharing = even ? static_cast<float>(p.classes) : 1.0F;
    const float smoothed = (even ? p.hit - p.other : p.hit) * nll + p.other * (sharing * z + below);
    const float weight = weight_of(p, row);
    p.nll[row] = weight * nll;
    p.loss[row] = weight * (p.other == 0.0F ? p.hit * nll : smoothed);
}

// With l = logits - max and z = log sum exp l:  -log p[c] = z - l[c].
template <class T, int N>
__global__ void __launch_bounds__(kLossThreads) smoothed_cross_entropy(LossKernel<T> p) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const T* logits = p.logits + row * p.classes;
    T* grad = p.grad_logits == nullptr ? nullptr : p.grad_logits + row * p.classes;
    const std::int64_t target = p.targets[row];
    if (leave_out<T, N>(p, row, target)) {
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
    const float scale = grad_scale_of(p, row);
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
        write_loss(p, row, z, target_l, below);
    }
}

// The same with even smoothing, of 16-bit logits that a block reads once and keeps in registers: `Held` packs a thread,
// a block apart.
constexpr int kHeldPack = 8;
constexpr unsigned kHeldThreads = 1024;
constexpr int kMostHeld = 6;  // more do not fit into the registers of so many threads
constexpr float kLog2E = 1.4426950408889634F;

template <class T, int Held>
__global__ void __launch_bounds__(kHeldThreads) held_cross_entropy(LossKernel<T> p) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const T* logits = p.logits + row * p.classes;
    const std::int64_t target = p.targets[row];
    if (leave_out<T, kHeldPack>(p, row, target)) {
        return;
    }
    const auto classes = static_cast<int>(p.classes);
    Pack<T, kHeldPack> held[Held];
    const auto for_held = [&](const auto& body) {
        unrolled<Held>([&](int pack) {
            const int first = (pack * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kHeldPack;
            if (first < classes) {
                body(held[pack], first);
            }
        });
    };
    for_held([&](Pack<T, kHeldPack>& pack, int first) {
        pack = *reinterpret_cast<const Pack<T, kHeldPack>*>(logits + first);
    });
    const float target_logit = to_float(logits[target]);
    float most = -INFINITY;
    for_held([&](const Pack<T, kHeldPack>& pack, int /*first*/) {
        for (const T& value : pack.value) {
            most = fmaxf(most, to_float(value));  // a NaN shows in the sum
        }
    });
    most = reduce_block(most, Maximum());
    float total = 0.0F;
    float below = 0.0F;
    for_held([&](const Pack<T, kHeldPack>& pack, int /*first*/) {
        for (const T& value : pack.value) {
            const float l = to_float(value) - most;
            below -= l;
            total += exp2f(l * kLog2E);
        }
    });
    total = reduce_block(total, Sum());
    below = reduce_block(below, Sum());
    if (threadIdx.x == 0) {
        write_loss(p, row, logf(total), target_logit - most, below);
    }
    if (p.grad_logits == nullptr) {
        return;
    }
    __syncthreads();  // grad may be logits
    const float scale = grad_scale_of(p, row);
    const float share = scale / total;
    for_held([&](const Pack<T, kHeldPack>& pack, int first) {
        float values[kHeldPack];
        for (int i = 0; i < kHeldPack; ++i) {
            values[i] = share * exp2f((to_float(pack.value[i]) - most) * kLog2E) - scale * p.other;
        }
        T* to = p.grad_logits + row * p.classes + first;
        store<kHeldPack>(values, to);
        if (first <= target && target < first + kHeldPack) {
            const float value[1] = {share * exp2f((target_logit - most) * kLog2E) - scale * p.hit};
            store<1>(value, to + (target - first));
        }
    });
}

// Calls visit(Width<packs of a thread>{}).
template <class Visit>
void visit_held(std::int64_t packs, const Visit& visit) {
    switch (packs) {
        case 1: return visit(Width<1>{});
        case 2: return visit(Width<2>{});
        case 3: return visit(Width<3>{});
        case 4: return visit(Width<4>{});
        case 5: return visit(Width<5>{});
        default: return visit(Width<kMostHeld>{});
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
    const auto launch = [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const LossKernel<T> kernel{data_of<T>(op.logits),
                                   data_of<std::int32_t>(op.targets),
                                   data_of<float>(op.loss),
                                   data_of<float>(op.nll),
                                   data_of<T>(op.grad_logits),
                                   data_of<float>(op.grad_scale),
                                   prior,
                                   data_of<float>(op.weights),
                                   classes,
                                   hit,
                                   other};
        const std::int64_t held = (classes + kHeldPack * kHeldThreads - 1) / (kHeldPack * kHeldThreads);
        if constexpr (kWidth == kHeldPack) {
            if (prior == nullptr && held <= kMostHeld && kernels_.allow(Kernel::Loss, compiled_)) {
                visit_held(held, [&](auto packs) {
                    stream_.launch(SmoothedCrossEntropy::kName, held_cross_entropy<T, decltype(packs)::value>,
                                   row_grid(op.logits.dim(0), classes, kHeldPack, 0, kHeldThreads), kernel);
                });
                return;
            }
        }
        stream_.launch(SmoothedCrossEntropy::kName, smoothed_cross_entropy<T, kWidth>,
                       row_grid(op.logits.dim(0), classes, kWidth, 0, kLossThreads), kernel);
    };
    visit_rows(SmoothedCrossEntropy::kName, op.logits.dtype, classes, {&op.logits, &op.grad_logits}, launch);
}

}  // namespace headscope::cuda
