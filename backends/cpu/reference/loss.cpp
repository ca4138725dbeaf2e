#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/ops/loss.h"
#include "backends/cpu/reference/reference.h"

namespace headscope {

namespace {

// q: the smoothed target of the true class, and of each other class; with a prior what the true class has beside its
// part of epsilon.
template <class Real>
struct Target {
    Real hit;
    Real other;
    Real epsilon;
    const Real* prior;

    Target(const SmoothedCrossEntropy& op, std::int64_t classes)
        : epsilon(op.epsilon), prior(op.prior.defined() ? data_of<Real>(op.prior) : nullptr) {
        if (op.smoothing == Smoothing::AllClasses) {
            other = epsilon / static_cast<Real>(classes);
            hit = 1 - epsilon + other;
        } else {
            other = epsilon == 0 ? 0 : epsilon / static_cast<Real>(classes - 1);
            hit = 1 - epsilon;
        }
    }

    Real of(std::int64_t c, std::int64_t target) const {
        if (prior != nullptr) {
            return epsilon * prior[c] + (c == target ? 1 - epsilon : 0);
        }
        return c == target ? hit : other;
    }
};

// log of the sum of exp(x)
template <class Real>
Real log_sum_exp(const Real* x, std::int64_t count) {
    const Real largest = *std::max_element(x, x + count);
    Real total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        total += std::exp(x[i] - largest);
    }
    return largest + std::log(total);
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const SmoothedCrossEntropy& op) {
    const std::int64_t classes = op.logits.dim(1);
    const Target<Real> q(op, classes);
    const Real grad_scale = op.grad_scale.defined() ? *data_of<Real>(op.grad_scale) : Real{1};
    for (std::int64_t row = 0; row < op.logits.dim(0); ++row) {
        const Real* logits = data_of<Real>(op.logits) + row * classes;
        Real* grad = op.grad_logits.defined() ? data_of<Real>(op.grad_logits) + row * classes : nullptr;
        const std::int64_t target = data_of<std::int32_t>(op.targets)[row];
        const Real weight = op.weights.defined() ? data_of<Real>(op.weights)[row] : Real{1};
        Real loss = 0;
        Real nll = 0;
        if (target >= classes || target < -1) {  // never an out-of-bounds read
            loss = nll = std::numeric_limits<Real>::quiet_NaN();
            std::fill_n(grad, grad == nullptr ? 0 : classes, loss);
        } else if (target == -1) {
            std::fill_n(grad, grad == nullptr ? 0 : classes, Real{0});
        } else {
            const Real log_total = log_sum_exp(logits, classes);
            nll = log_total - logits[target];
            for (std::int64_t c = 0; c < classes; ++c) {
                const Real log_p = logits[c] - log_total;
                const Real wanted = q.of(c, target);
                loss -= wanted == 0 ? 0 : wanted * log_p;
                if (grad != nullptr) {
                    grad[c] = weight * grad_scale * (std::exp(log_p) - wanted);
                }
            }
        }
        data_of<Real>(op.loss)[row] = weight * loss;
        data_of<Real>(op.nll)[row] = weight * nll;
    }
}

template void CpuReference<float>::run(const SmoothedCrossEntropy&);
template void CpuReference<double>::run(const SmoothedCrossEntropy&);

}  // namespace headscope
