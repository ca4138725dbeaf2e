// StepScalars from the gradient's sum of squares; a single invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(StepControlParams, STEP_CONTROL_BINDINGS, NO_CONSTANTS)
#include "grid.glsl"
#include "math.glsl"
layout(set = 0, binding = binding_square_sum) readonly buffer SquareSum { float square_sum[]; };
layout(set = 0, binding = binding_scalars) buffer Scalars { float scalars[]; };

// StepScalars::Slot
const uint kGradientDivisor = 1u;
const uint kCorrection1 = 2u;
const uint kCorrection2 = 3u;
const uint kGradientScale = 4u;
const uint kSkip = 5u;
const uint kGradientNorm = 6u;
const uint kLossScale = 7u;
const uint kGoodSteps = 8u;
const uint kUpdates = 9u;

// The same as next_loss_scale in src/backend/loss_scaling.h.
void move_loss_scale(uint at, bool finite) {
    if (p.growth_interval == 0.0) {
        return;
    }
    float scale = scalars[at + kLossScale];
    float good_steps = scalars[at + kGoodSteps] + 1.0;
    if (!finite) {
        scalars[at + kLossScale] = max(scale * p.backoff, p.least);
        scalars[at + kGoodSteps] = 0.0;
    } else if (good_steps < p.growth_interval) {
        scalars[at + kGoodSteps] = good_steps;
    } else {
        scalars[at + kLossScale] = min(scale * p.growth, p.most);
        scalars[at + kGoodSteps] = 0.0;
    }
}

// The same as bias_correction in src/backend/bias_correction.h.
float bias_correction(float one_minus_beta, float updates) {
    float correction = 0.0;
    float power = one_minus_beta;
    for (uint left = uint(updates); left > 0u; left /= 2u) {
        correction += left % 2u == 1u ? (1.0 - correction) * power : 0.0;
        power *= 2.0 - power;
    }
    return correction;
}

void main() {
    if (element_index() != 0u) {
        return;
    }
    uint at = p.offset[binding_scalars];
    float divisor = scalars[at + kGradientDivisor] * scalars[at + kLossScale];
    float total = square_sum[p.offset[binding_square_sum]];
    float norm = is_finite(total) ? sqrt(total) / divisor : total;  // some devices have no square root of infinity
    bool finite = is_finite(total) && is_finite(norm);
    float clip = 1.0;
    if (finite && p.max_norm > 0.0 && norm > p.max_norm) {
        clip = p.max_norm / norm;
    }
    scalars[at + kGradientScale] = clip / divisor;
    scalars[at + kSkip] = finite ? 0.0 : 1.0;
    scalars[at + kGradientNorm] = norm;
    if (finite) {
        float updates = scalars[at + kUpdates] + 1.0;
        scalars[at + kUpdates] = updates;
        scalars[at + kCorrection1] = bias_correction(p.one_minus_beta1, updates);
        scalars[at + kCorrection2] = bias_correction(p.one_minus_beta2, updates);
    }
    move_loss_scale(at, finite);
}
