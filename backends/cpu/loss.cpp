// Rule: loss, nll and grad_logits are overwritten. grad_logits may be logits. A row's maximum and sum are in F32, in an
// order that the number of classes alone decides; pads give 0.
#include <limits>

#include "backend/ops/loss.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

// q: the smoothed target of the true class, and of each other class. With a prior: what the true class has beside its
// part of the rest, and the rest.
struct Smoothed {
    float hit;
    float other;
    const float* prior = nullptr;  // [classes], or absent
};

Smoothed smoothed(const SmoothedCrossEntropy& op) {
    const auto classes = static_cast<float>(op.logits.dim(1));
    if (op.prior.defined() && op.epsilon > 0.0F) {
        return {1.0F - op.epsilon, op.epsilon, data_of<const float>(op.prior)};
    }
    if (op.smoothing == Smoothing::AllClasses) {
        return {1.0F - op.epsilon + op.epsilon / classes, op.epsilon / classes};
    }
    return {1.0F - op.epsilon, op.epsilon == 0.0F ? 0.0F : op.epsilon / (classes - 1.0F)};
}

struct RowLoss {
    float loss;
    float nll;
};

// -sum of q.prior[c] log p[c], but without what only the logarithm of the total adds; the prior sums to 1.
HEADSCOPE_CLONES float below_prior(const float* logits, std::int64_t classes, float largest, const float* prior) {
    return sum_over(classes, [&](std::int64_t c) {
        const float share = prior[c];
        // Both are always read: GCC 12 adds wrong numbers where AVX2 reads one of them under a condition.
        const float far = largest - logits[c];
        return share == 0.0F ? 0.0F : share * far;  // 0 also of -inf
    });
}

// Two passes over the row: its maximum; then exponentials with their sum, and the sum of the entries. A third pass
// turns the exponentials into the gradient. grad may be nullptr or logits.
HEADSCOPE_CLONES RowLoss loss_row(const float* logits, float* grad, std::int64_t classes, std::int64_t target,
                                  const Smoothed& q, float grad_scale) {
    const float largest = largest_of(logits, classes);
    const float shifted_target = logits[target] - largest;
    const bool even = q.prior == nullptr;
    const float below = even ? 0.0F : below_prior(logits, classes, largest, q.prior);
    const float shifted_sum =
        q.other == 0.0F || !even ? 0.0F : sum_over(classes, [&](std::int64_t c) { return logits[c] - largest; });
    float total = 0.0F;
    if (grad == nullptr) {
        total = sum_over(classes, [&](std::int64_t c) { return exp_fast(logits[c] - largest); });
    } else {
        total = sum_over(classes, [&](std::int64_t c) {
            const float e = exp_fast(logits[c] - largest);
            grad[c] = e;
            return e;
        });
        const float scale = 1.0F / total;
        for (std::int64_t c = 0; c < classes && even; ++c) {
            grad[c] = grad_scale * (grad[c] * scale - (c == target ? q.hit : q.other));
        }
        for (std::int64_t c = 0; c < classes && !even; ++c) {
            grad[c] = grad_scale * (grad[c] * scale - (q.other * q.prior[c] + (c == target ? q.hit : 0.0F)));
        }
    }
    const float log_total = std::log(total);
    const float nll = log_total - shifted_target;
    if (!even) {
        return {q.hit * nll + q.other * (log_total + below), nll};
    }
    const float all = static_cast<float>(classes) * log_total - shifted_sum;  // -sum of log p
    return {(q.hit - q.other) * nll + (q.other == 0.0F ? 0.0F : q.other * all), nll};
}

}  // namespace

void CpuBackend::run(const SmoothedCrossEntropy& op) {
    constexpr std::int64_t kWorthAThread = 8192;  // elements
    const std::int64_t classes = op.logits.dim(1);
    const Smoothed q = smoothed(op);
    const float grad_scale = op.grad_scale.defined() ? *data_of<float>(op.grad_scale) : 1.0F;
    const std::int32_t* targets = data_of<std::int32_t>(op.targets);
    const float* weights = data_of<const float>(op.weights);
    const float* logits = data_of<const float>(op.logits);
    float* grad_logits = data_of<float>(op.grad_logits);
    float* losses = data_of<float>(op.loss);
    float* nlls = data_of<float>(op.nll);
    const auto run_row = [&](std::int64_t row) -> RowLoss {
        float* grad = grad_logits == nullptr ? nullptr : grad_logits + row * classes;
        const std::int64_t target = targets[row];
        if (target >= 0 && target < classes) {
            const float weight = weights == nullptr ? 1.0F : weights[row];
            const RowLoss found = loss_row(logits + row * classes, grad, classes, target, q, weight * grad_scale);
            return {weight * found.loss, weight * found.nll};
        }
        const float value = target == -1 ? 0.0F : std::numeric_limits<float>::quiet_NaN();
        std::fill_n(grad, grad == nullptr ? 0 : classes, value);
        return {value, value};
    };
    pool_.for_ranges(op.logits.dim(0), kWorthAThread / std::max<std::int64_t>(classes, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                             const RowLoss found = run_row(row);
                             losses[row] = found.loss;
                             nlls[row] = found.nll;
                         }
                     });
}

}  // namespace headscope::cpu
