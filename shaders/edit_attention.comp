// Attention weights changed by rules[head, query]: unchanged, 0, uniform, or all on one key. One workgroup for each
// row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(EditAttentionParams, EDIT_ATTENTION_BINDINGS, NO_CONSTANTS)
#include "grid.glsl"
#include "mask.glsl"
#include "storage.glsl"
layout(set = 0, binding = binding_weights) readonly buffer Weights { Stored weights[]; };
layout(set = 0, binding = binding_rules) readonly buffer Rules { int rules[]; };
layout(set = 0, binding = binding_out) buffer Edited { Stored edited[]; };

void main() {
    uint row = p.first_row + group_index();
    uint from = p.offset[binding_weights] + group_index() * p.keys;
    uint to = p.offset[binding_out] + group_index() * p.keys;
    Keys allowed = allowed_keys(row);
    int rule = rules[p.offset[binding_rules] + row % (p.heads * p.queries)];
    for (uint key = lane(); key < p.keys; key += lanes()) {
        float weight = widen_one(weights[from + key]);
        bool is_allowed = are_allowed(key, allowed).x;
        if (rule == p.off) {
            weight = 0.0;
        } else if (rule == p.uniform_weight) {
            weight = is_allowed ? 1.0 / float(allowed.count) : 0.0;
        } else if (rule >= 0) {
            weight = int(key) == rule && is_allowed ? 1.0 : 0.0;
        }
        edited[to + key] = narrow_one(weight);
    }
}
