// F16 has no numbers below 6e-8: gradients are multiplied by a loss scale on their way back, and divided once they are
// sums in F32. The scale grows until a gradient overflows, falls back, and so stays as large as the run allows.
#pragma once

#include <cstdint>

namespace headscope {

struct LossScaling {
    std::int32_t growth_interval = 0;  // this many good steps in a row let the scale grow; 0: it never moves
    float growth = 2.0F;
    float backoff = 0.5F;      // after a gradient that was not finite
    float least = 1.0F;        // it never falls below
    float most = 16777216.0F;  // 2^24; it never grows beyond
};

// The slots LossScale and GoodSteps of StepScalars.
template <class Real>
struct LossScaleState {
    Real scale;
    Real good_steps;
};

// The state after a step whose gradient was finite or not. One function for every device: it calls nothing.
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
