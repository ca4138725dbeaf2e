// Kingma & Ba, algorithm 1, with the corrections given.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AdamParams p; };
#include "grid.glsl"
layout(set = 0, binding = 0) buffer Parameter { float parameter[]; };
layout(set = 0, binding = 1) readonly buffer Grad { float grad[]; };
layout(set = 0, binding = 2) buffer FirstMoment { float first_moment[]; };
layout(set = 0, binding = 3) buffer SecondMoment { float second_moment[]; };
layout(set = 0, binding = 4) readonly buffer Scalars { float scalars[]; };

// StepScalars::Slot
const uint kLearningRate = 0u;
const uint kCorrection1 = 1u;
const uint kCorrection2 = 2u;
const uint kGradientScale = 4u;
const uint kSkip = 5u;

void main() {
    uint index = element_index();
    uint at = p.offset[4];
    if (index >= p.count || scalars[at + kSkip] == 1.0) {
        return;
    }
    float g = grad[p.offset[1] + index] * scalars[at + kGradientScale];
    float m = p.beta1 * first_moment[p.offset[2] + index] + p.one_minus_beta1 * g;
    float v = p.beta2 * second_moment[p.offset[3] + index] + p.one_minus_beta2 * g * g;
    first_moment[p.offset[2] + index] = m;
    second_moment[p.offset[3] + index] = v;
    float update = (m / scalars[at + kCorrection1]) / (sqrt(v / scalars[at + kCorrection2]) + p.epsilon);
    parameter[p.offset[0] + index] -= scalars[at + kLearningRate] * update;
}
