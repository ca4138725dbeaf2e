// Kingma & Ba, algorithm 1, with given corrections; each invocation has four parameters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(AdamParams, ADAM_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
HEADSCOPE_WRITE_FLOATS(binding_parameter, parameter)
HEADSCOPE_READ_FLOATS(binding_grad, grad)
HEADSCOPE_WRITE_FLOATS(binding_m, first_moment)
HEADSCOPE_WRITE_FLOATS(binding_v, second_moment)
layout(set = 0, binding = binding_decay) readonly buffer Decay { float decay[]; };  // of 16 parameters each
layout(set = 0, binding = binding_scalars) readonly buffer Scalars { float scalars[]; };
// The old values: the same tensors; each element is read before the same invocation writes it.
#ifdef HEADSCOPE_TEXELS
HEADSCOPE_READ_FLOATS(binding_old_parameter, old_parameter)
HEADSCOPE_READ_FLOATS(binding_old_m, old_first)
HEADSCOPE_READ_FLOATS(binding_old_v, old_second)
#else
// Read through the written binding: a compiler may assume that a read-only buffer does not change.
layout(set = 0, binding = binding_old_parameter) readonly buffer OldParameter { float old_parameter[]; };
layout(set = 0, binding = binding_old_m) readonly buffer OldFirst { float old_first[]; };
layout(set = 0, binding = binding_old_v) readonly buffer OldSecond { float old_second[]; };
#define old_parameter_at parameter_at
#define old_first_at first_moment_at
#define old_second_at second_moment_at
#endif
#ifdef HEADSCOPE_16_BITS
HEADSCOPE_WRITE_FOURS(binding_working, working)
#else
layout(set = 0, binding = binding_working) readonly buffer Working { float working[]; };  // absent
#endif

// StepScalars::Slot
const uint kLearningRate = 0u;
const uint kCorrection1 = 2u;
const uint kCorrection2 = 3u;
const uint kGradientScale = 4u;
const uint kSkip = 5u;

void main() {
    uint index = 4u * element_index();
    // Before any branch, where software devices see that all invocations read the same.
    float rate = scalars[p.offset[binding_scalars] + kLearningRate];
    float correction1 = scalars[p.offset[binding_scalars] + kCorrection1];
    float correction2 = scalars[p.offset[binding_scalars] + kCorrection2];
    float gradient_scale = scalars[p.offset[binding_scalars] + kGradientScale];
    float skip = scalars[p.offset[binding_scalars] + kSkip];
    if (index >= p.count || skip == 1.0) {
        return;
    }
    uint count = p.count - index;
    vec4 g = grad_at(p.offset[binding_grad] + index, count) * gradient_scale;
    vec4 m = p.beta1 * old_first_at(p.offset[binding_old_m] + index, count) + p.one_minus_beta1 * g;
    vec4 v = p.beta2 * old_second_at(p.offset[binding_old_v] + index, count) + p.one_minus_beta2 * g * g;
    first_moment_put(p.offset[binding_m] + index, count, m);
    second_moment_put(p.offset[binding_v] + index, count, v);
    vec4 update = (m / correction1) / (sqrt(v / correction2) + p.epsilon);
    vec4 old = old_parameter_at(p.offset[binding_old_parameter] + index, count);
    float decayed = p.has_decay != 0u ? decay[p.offset[binding_decay] + index / 16u] : 0.0;
    vec4 value = old - rate * (update + decayed * old);
    parameter_put(p.offset[binding_parameter] + index, count, value);
#ifdef HEADSCOPE_16_BITS
    working_put(p.offset[binding_working] + index, count, value);
#endif
}
