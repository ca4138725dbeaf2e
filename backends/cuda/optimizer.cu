// The optimizer step of section 5.3: the gradient's norm, the scalars that follow, and Adam over all parameters in one
// launch.
//
// Rule: parameter, m, v and working change in place, none of them if Skip is 1; square_sum's out is added to with
// Write::Accumulate. Nothing aliases. Squares are summed over fixed parts, then over the parts: no atomics.
#include <algorithm>

#include "backend/ops/optimizer.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// partial[block] = the block's sum of squares.
template <int N>
__global__ void square_sum(const float* x, std::int64_t count, float* partial) {
    after_previous();
    float sum = 0.0F;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * N;
    for (std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N; first < count;
         first += step) {
        float values[N];
        load<N>(x + first, values);
        for (int i = 0; i < N; ++i) {
            sum += values[i] * values[i];
        }
    }
    sum = reduce_block(sum, Sum());
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void add_up(const float* partial, std::int64_t count, float* out, bool accumulate) {
    after_previous();
    float sum = 0.0F;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        sum += partial[i];
    }
    sum = reduce_block(sum, Sum());
    if (threadIdx.x == 0) {
        *out = accumulate ? *out + sum : sum;
    }
}

__global__ void step_control(const float* square_sum, float* scalars, float max_norm, LossScaling scaling, float beta1,
                             float beta2) {
    after_previous();
    if (threadIdx.x != 0) {
        return;
    }
    const float divisor = scalars[StepScalars::GradientDivisor] * scalars[StepScalars::LossScale];
    const float norm = sqrtf(*square_sum) / divisor;
    const float clip = max_norm > 0.0F && max_norm / norm < 1.0F ? max_norm / norm : 1.0F;
    const bool finite = isfinite(norm);
    scalars[StepScalars::GradientNorm] = norm;
    scalars[StepScalars::Skip] = finite ? 0.0F : 1.0F;
    scalars[StepScalars::GradientScale] = clip / divisor;
    if (finite) {
        const float updates = scalars[StepScalars::Updates] += 1.0F;
        scalars[StepScalars::Correction1] = static_cast<float>(bias_correction(beta1, updates));
        scalars[StepScalars::Correction2] = static_cast<float>(bias_correction(beta2, updates));
    }
    const LossScaleState<float> next =
        next_loss_scale<float>({scalars[StepScalars::LossScale], scalars[StepScalars::GoodSteps]}, finite, scaling);
    scalars[StepScalars::LossScale] = next.scale;
    scalars[StepScalars::GoodSteps] = next.good_steps;
}

struct AdamKernel {
    float* parameter;
    const float* grad;
    float* m;
    float* v;
    const float* scalars;
    const float* decay;  // one for every kGroup elements, or null
    std::int64_t count;
    float beta1, beta2, epsilon;
};

template <class Working, int N>
__global__ void adam(AdamKernel p, Working* working) {
    after_previous();
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (first >= p.count || p.scalars[StepScalars::Skip] == 1.0F) {
        return;
    }
    float parameter[N];
    float grad[N];
    float m[N];
    float v[N];
    load<N>(p.parameter + first, parameter);
    load<N>(p.grad + first, grad);
    load<N>(p.m + first, m);
    load<N>(p.v + first, v);
    const float decay = p.decay == nullptr ? 0.0F : p.decay[first / Adam::kGroup];
    for (int i = 0; i < N; ++i) {
        const float g = grad[i] * p.scalars[StepScalars::GradientScale];
        m[i] = p.beta1 * m[i] + (1.0F - p.beta1) * g;
        v[i] = p.beta2 * v[i] + (1.0F - p.beta2) * g * g;
        const float unbiased_m = m[i] / p.scalars[StepScalars::Correction1];
        const float unbiased_v = v[i] / p.scalars[StepScalars::Correction2];
        parameter[i] -= p.scalars[StepScalars::LearningRate] * unbiased_m / (sqrtf(unbiased_v) + p.epsilon) +
                        p.scalars[StepScalars::LearningRate] * decay * parameter[i];
    }
    store<N>(parameter, p.parameter + first);
    store<N>(m, p.m + first);
    store<N>(v, p.v + first);
    if (working != nullptr) {
        store<N>(parameter, working + first);
    }
}

// Calls visit(Width<4>{}) if all are aligned and the count is a multiple of four, else visit(Width<1>{}).
template <class Visit>
void visit_flat(std::int64_t count, std::initializer_list<const Tensor*> tensors, const Visit& visit) {
    if (count % 4 == 0 && aligned(tensors, 16)) {
        visit(Width<4>{});
    } else {
        visit(Width<1>{});
    }
}

}  // namespace

void CudaBackend::run(const SquareSum& op) {
    const std::int64_t count = op.x.elements();
    constexpr int kBlocksEach = 8;
    constexpr unsigned kThreads = 256;
    const std::int64_t most = static_cast<std::int64_t>(kBlocksEach) * multiprocessors_;
    const std::int64_t blocks = std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, most);
    const auto partial = scratch(static_cast<std::size_t>(blocks) * sizeof(float));
    auto* sums = reinterpret_cast<float*>(partial->data());
    visit_flat(count, {&op.x}, [&](auto width) {
        stream_.launch(SquareSum::kName, square_sum<decltype(width)::value>, row_grid(blocks, kThreads, 1),
                       data_of<float>(op.x), count, sums);
    });
    stream_.launch(SquareSum::kName, add_up, row_grid(1, kThreads, 1), sums, blocks, data_of<float>(op.out),
                   op.write == Write::Accumulate);
}

void CudaBackend::run(const StepControl& op) {
    stream_.launch(StepControl::kName, step_control, row_grid(1, 1, 1), data_of<float>(op.square_sum),
                   data_of<float>(op.scalars), op.max_norm, op.scaling, op.beta1, op.beta2);
}

void CudaBackend::run(const Adam& op) {
    const std::int64_t count = op.parameter.elements();
    if (count == 0) {
        return;
    }
    // Without a working copy the type of the null pointer does not matter.
    visit_real(Adam::kName, op.working.defined() ? op.working.dtype : DType::BF16, [&](auto tag) {
        using Working = decltype(tag);
        visit_flat(count, {&op.parameter, &op.grad, &op.m, &op.v, &op.working}, [&](auto width) {
            constexpr int kWidth = decltype(width)::value;
            stream_.launch(Adam::kName, adam<Working, kWidth>, item_grid(count / kWidth),
                           AdamKernel{data_of<float>(op.parameter), data_of<float>(op.grad), data_of<float>(op.m),
                                      data_of<float>(op.v), data_of<float>(op.scalars), data_of<float>(op.decay), count,
                                      op.beta1, op.beta2, op.epsilon},
                           data_of<Working>(op.working));
        });
    });
}

}  // namespace headscope::cuda
