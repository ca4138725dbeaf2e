// to[t] = the sum over a token's choices of weights[s] x[s], with s = slots[t, choice]; each invocation has four columns.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(MixExpertsParams, MIX_EXPERTS_BINDINGS, MIX_EXPERTS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
layout(constant_id = constant_has_weights) const bool kHasWeights = false;
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_WRITE_FOURS(binding_to, to)
layout(set = 0, binding = binding_slots) readonly buffer Slots { int slots[]; };
layout(set = 0, binding = binding_weights) readonly buffer Weights { float weights[]; };

void main() {
    uint fours = (p.columns + 3u) / 4u;
    uint token = element_index() / fours;
    if (token >= p.tokens) {
        return;
    }
    uint column = 4u * (element_index() - token * fours);
    uint count = p.columns - column;
    uint at = p.offset[binding_to] + token * p.columns + column;
    vec4 sum = vec4(0.0);
    for (uint choice = 0u; choice < p.choices; ++choice) {
        int slot = slots[p.offset[binding_slots] + token * p.choices + choice];
        if (slot >= int(p.first_slot) && uint(slot) - p.first_slot < p.count) {
            uint row = uint(slot) - p.first_slot;
            vec4 value = x_at(p.offset[binding_x] + row * p.columns + column, count);
            sum += kHasWeights ? weights[p.offset[binding_weights] + row] * value : value;
        }
    }
    to_put(at, count, kAccumulates ? to_at(at, count) + sum : sum);
}
