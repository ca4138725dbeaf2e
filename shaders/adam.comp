// Kingma & Ba, algorithm 1, with the corrections given; one invocation four parameters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AdamParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
HEADSCOPE_WRITE_FLOATS(0, parameter)
HEADSCOPE_READ_FLOATS(1, grad)
HEADSCOPE_WRITE_FLOATS(2, first_moment)
HEADSCOPE_WRITE_FLOATS(3, second_moment)
layout(set = 0, binding = 4) readonly buffer Scalars { float scalars[]; };
#ifdef HEADSCOPE_16_BITS
HEADSCOPE_WRITE_FOURS(5, working)
#else
layout(set = 0, binding = 5) readonly buffer Working { float working[]; };  // there is none
#endif

// StepScalars::Slot
const uint kLearningRate = 0u;
const uint kCorrection1 = 1u;
const uint kCorrection2 = 2u;
const uint kGradientScale = 4u;
const uint kSkip = 5u;

void main() {
    uint index = 4u * element_index();
    uint at = p.offset[4];
    if (index >= p.count || scalars[at + kSkip] == 1.0) {
        return;
    }
    uint count = p.count - index;
    vec4 g = grad_at(p.offset[1] + index, count) * scalars[at + kGradientScale];
    vec4 m = p.beta1 * first_moment_at(p.offset[2] + index, count) + p.one_minus_beta1 * g;
    vec4 v = p.beta2 * second_moment_at(p.offset[3] + index, count) + p.one_minus_beta2 * g * g;
    first_moment_put(p.offset[2] + index, count, m);
    second_moment_put(p.offset[3] + index, count, v);
    vec4 update = (m / scalars[at + kCorrection1]) / (sqrt(v / scalars[at + kCorrection2]) + p.epsilon);
    vec4 value = parameter_at(p.offset[0] + index, count);
    value -= scalars[at + kLearningRate] * update;
    parameter_put(p.offset[0] + index, count, value);
#ifdef HEADSCOPE_16_BITS
    working_put(p.offset[5] + index, count, value);
#endif
}
