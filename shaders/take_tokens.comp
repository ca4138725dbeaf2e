// to[s] = weights[s] x[sources[s]], 0 for an empty slot, and dots[s] = others[s] . x[sources[s]]. One workgroup for each
// slot.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(TakeTokensParams, TAKE_TOKENS_BINDINGS, TAKE_TOKENS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_has_weights) const bool kHasWeights = false;
layout(constant_id = constant_has_others) const bool kHasOthers = false;
layout(constant_id = constant_keeps) const bool kKeeps = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FOURS(binding_others, others)
HEADSCOPE_WRITE_FOURS(binding_to, to)
layout(set = 0, binding = binding_sources) readonly buffer Sources { int sources[]; };
layout(set = 0, binding = binding_weights) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = binding_dots) writeonly buffer Dots { float dots[]; };

void main() {
    uint slot = group_index();
    int source = sources[p.offset[binding_sources] + slot];
    bool full = source >= int(p.first_token) && uint(source) - p.first_token < p.tokens;
    if (!full && kKeeps) {
        return;
    }
    float weight = kHasWeights ? weights[p.offset[binding_weights] + slot] : 1.0;
    float dotted = 0.0;
    for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
        uint count = p.columns - column;
        vec4 value = vec4(0.0);
        if (full) {
            value = x_at(p.offset[binding_x] + (uint(source) - p.first_token) * p.columns + column, count);
            if (kHasOthers) {
                vec4 other = others_at(p.offset[binding_others] + slot * p.columns + column, count);
                dotted += sum_of_four(of_row(value * other, count));
            }
            value *= weight;
        }
        to_put(p.offset[binding_to] + slot * p.columns + column, count, value);
    }
    if (kHasOthers) {
        dotted = group_sum(dotted);
        if (lane() == 0u) {
            dots[p.offset[binding_dots] + slot] = dotted;
        }
    }
}
