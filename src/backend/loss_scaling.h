// F16 has no numbers below 6e-8. So the loss, and with it every gradient, is multiplied by a scale, and gradients are
// divided by it once they are F32 sums. The scale grows until a gradient overflows, then falls back, and so stays as
// large as possible.
#pragma once

#include <cstdint>

namespace headscope {

struct LossScaling {
    std::int32_t growth_interval = 0;  // good steps in a row after which the scale grows; 0: it never changes
    float growth = 2.0F;
    float backoff = 0.5F;      // after a gradient that was not finite
    float least = 1.0F;        // it never falls below
    float most = 16777216.0F;  // 2^24; it never grows beyond
};

// The LossScale and GoodSteps slots of StepScalars.
template <class Real>
struct LossScaleState {
    Real scale;
    Real good_steps;
};

// The state after a step with finite or non-finite gradient. All devices share this function; it calls nothing.
template <class Real>
constexpr LossScaleState<Real> next_loss_scale(const LossScaleState<Real>& now, bool finite, const LossScaling& rule) {
    if (rule.growth_interval == 0) {
        return now;
    }
    if (!finite) {
        const Real lower = now.scale * static_cast<Real>(rule.backoff);
        return {lower < static_cast<Real>(rule.least) ? static_cast<Real>(rule.least) : lower, Real{0}};
    }
    if (now.good_steps + 1 < static_cast<Real>(rule.growth_interval)) {
        return {now.scale, now.good_steps + 1};
    }
    const Real higher = now.scale * static_cast<Real>(rule.growth);
    return {higher > static_cast<Real>(rule.most) ? static_cast<Real>(rule.most) : higher, Real{0}};
}

}  // namespace headscope
