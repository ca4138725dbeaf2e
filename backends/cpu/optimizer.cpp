// Rule: parameter, m, v and working change in place, none of them if Skip is 1; square_sum's out is added to with
// Write::Accumulate. Nothing aliases. Squares are summed over fixed parts, then over the parts: no atomics.
#include <algorithm>

#include "backend/ops/optimizer.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kBlock = 8192;  // elements; blocks are the same whatever the threads

HEADSCOPE_CLONES float square_sum(const float* x, std::int64_t count) {
    return sum_over(count, [&](std::int64_t i) { return x[i] * x[i]; });
}

struct AdamStep {
    float beta1, beta2, epsilon;
    float gradient_scale;
    float learning_rate;
    float rate;            // over Correction1
    float inverse_second;  // 1 / Correction2
};

// `decayed`: the share of each parameter that weight decay takes away.
HEADSCOPE_CLONES void adam(const AdamStep& s, float* parameter, const float* grad, float* m, float* v,
                           std::int64_t count, float decayed) {
    const AdamStep step = s;
    for (std::int64_t i = 0; i < count; ++i) {
        const float g = grad[i] * step.gradient_scale;
        const float first = step.beta1 * m[i] + (1.0F - step.beta1) * g;
        const float second = step.beta2 * v[i] + (1.0F - step.beta2) * g * g;
        m[i] = first;
        v[i] = second;
        parameter[i] -=
            step.rate * first / (std::sqrt(second * step.inverse_second) + step.epsilon) + decayed * parameter[i];
    }
}

// Calls body(begin, end) for each block of [0, count).
template <class Body>
void for_blocks(ThreadPool& pool, std::int64_t count, Body&& body) {
    pool.for_ranges((count + kBlock - 1) / kBlock, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t block = first; block < last; ++block) {
            body(block * kBlock, std::min(count, (block + 1) * kBlock));
        }
    });
}

}  // namespace

void CpuBackend::run(const SquareSum& op) {
    const std::int64_t count = op.x.elements();
    const float* x = data_of<const float>(op.x);
    std::vector<double> sums(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
    for_blocks(pool_, count, [&](std::int64_t begin, std::int64_t end) {
        sums[static_cast<std::size_t>(begin / kBlock)] = square_sum(x + begin, end - begin);
    });
    float& out = *data_of<float>(op.out);
    double total = op.write == Write::Accumulate ? out : 0.0;
    for (const double sum : sums) {
        total += sum;
    }
    out = static_cast<float>(total);
}

void CpuBackend::run(const StepControl& op) {
    CpuReference<float>::run(op);
}

void CpuBackend::run(const Adam& op) {
    if (op.working.defined()) {
        throw Error(std::string("Adam on the CPU has no 16-bit working weights: found ") + op.working.to_string());
    }
    const float* scalars = data_of<const float>(op.scalars);
    if (scalars[StepScalars::Skip] == 1.0F) {
        return;
    }
    const AdamStep step{.beta1 = op.beta1,
                        .beta2 = op.beta2,
                        .epsilon = op.epsilon,
                        .gradient_scale = scalars[StepScalars::GradientScale],
                        .learning_rate = scalars[StepScalars::LearningRate],
                        .rate = scalars[StepScalars::LearningRate] / scalars[StepScalars::Correction1],
                        .inverse_second = 1.0F / scalars[StepScalars::Correction2]};
    float* parameter = data_of<float>(op.parameter);
    const float* grad = data_of<const float>(op.grad);
    float* m = data_of<float>(op.m);
    float* v = data_of<float>(op.v);
    const float* decay = data_of<const float>(op.decay);
    static_assert(kBlock % Adam::kGroup == 0);
    for_blocks(pool_, op.parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
        // Runs of groups that decay alike.
        for (std::int64_t first = begin; first < end;) {
            const float rate = decay == nullptr ? 0.0F : decay[first / Adam::kGroup];
            std::int64_t last = decay == nullptr ? end : first + Adam::kGroup;
            while (last < end && decay[last / Adam::kGroup] == rate) {
                last += Adam::kGroup;
            }
            last = std::min(last, end);
            adam(step, parameter + first, grad + first, m + first, v + first, last - first, step.learning_rate * rate);
            first = last;
        }
    });
}

}  // namespace headscope::cpu
