// StepScalars from the gradient's sum of squares; a single invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { StepControlParams p; };
#include "grid.glsl"
#include "math.glsl"
layout(set = 0, binding = 0) readonly buffer SquareSum { float square_sum[]; };
layout(set = 0, binding = 1) buffer Scalars { float scalars[]; };

// StepScalars::Slot
const uint kGradientDivisor = 3u;
const uint kGradientScale = 4u;
const uint kSkip = 5u;
const uint kGradientNorm = 6u;

void main() {
    if (element_index() != 0u) {
        return;
    }
    uint at = p.offset[1];
    float divisor = scalars[at + kGradientDivisor];
    float total = square_sum[p.offset[0]];
    float norm = is_nan(total) ? total : sqrt(total) / divisor;
    bool finite = is_finite(total) && is_finite(norm);
    float clip = 1.0;
    if (finite && p.max_norm > 0.0 && norm > p.max_norm) {
        clip = p.max_norm / norm;
    }
    scalars[at + kGradientScale] = clip / divisor;
    scalars[at + kSkip] = finite ? 0.0 : 1.0;
    scalars[at + kGradientNorm] = norm;
}
