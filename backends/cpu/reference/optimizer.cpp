#include <algorithm>
#include <cmath>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const SquareSum& op) {
    const Real* x = data_of<Real>(op.x);
    Real sum = 0;
    for (std::int64_t i = 0; i < op.x.elements(); ++i) {
        sum += x[i] * x[i];
    }
    store(*data_of<Real>(op.out), sum, op.write);
}

template <class Real>
void CpuReference<Real>::run(const StepControl& op) {
    Real* scalars = data_of<Real>(op.scalars);
    const Real divisor = scalars[StepScalars::GradientDivisor] * scalars[StepScalars::LossScale];
    const Real norm = std::sqrt(*data_of<Real>(op.square_sum)) / divisor;
    const Real clip = op.max_norm > 0.0F ? std::min(Real{1}, Real{op.max_norm} / norm) : Real{1};
    scalars[StepScalars::GradientNorm] = norm;
    scalars[StepScalars::Skip] = std::isfinite(norm) ? Real{0} : Real{1};
    scalars[StepScalars::GradientScale] = clip / divisor;
    if (std::isfinite(norm)) {
        const Real updates = scalars[StepScalars::Updates] += 1;
        scalars[StepScalars::Correction1] = static_cast<Real>(bias_correction(op.beta1, updates));
        scalars[StepScalars::Correction2] = static_cast<Real>(bias_correction(op.beta2, updates));
    }
    const LossScaleState<Real> next = next_loss_scale<Real>(
        {scalars[StepScalars::LossScale], scalars[StepScalars::GoodSteps]}, std::isfinite(norm), op.scaling);
    scalars[StepScalars::LossScale] = next.scale;
    scalars[StepScalars::GoodSteps] = next.good_steps;
}

template <class Real>
void CpuReference<Real>::run(const Adam& op) {
    const Real* scalars = data_of<Real>(op.scalars);
    if (scalars[StepScalars::Skip] == 1) {
        return;
    }
    const Real beta1 = op.beta1;
    const Real beta2 = op.beta2;
    Real* parameter = data_of<Real>(op.parameter);
    const Real* grad = data_of<Real>(op.grad);
    Real* m = data_of<Real>(op.m);
    Real* v = data_of<Real>(op.v);
    for (std::int64_t i = 0; i < op.parameter.elements(); ++i) {
        const Real g = grad[i] * scalars[StepScalars::GradientScale];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        const Real unbiased_m = m[i] / scalars[StepScalars::Correction1];
        const Real unbiased_v = v[i] / scalars[StepScalars::Correction2];
        const Real decay = op.decay.defined() ? data_of<Real>(op.decay)[i / Adam::kGroup] : Real{0};
        parameter[i] -= scalars[StepScalars::LearningRate] *
                        (unbiased_m / (std::sqrt(unbiased_v) + Real{op.epsilon}) + decay * parameter[i]);
    }
    if (op.working.defined()) {
        run(Copy{.x = op.parameter, .out = op.working});
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                            \
    template void CpuReference<Real>::run(const SquareSum&);   \
    template void CpuReference<Real>::run(const StepControl&); \
    template void CpuReference<Real>::run(const Adam&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
