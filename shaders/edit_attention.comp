// Attention weights changed by rules[head, query]: unchanged, 0, uniform, or all on one key. One workgroup for each
// row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { EditAttentionParams p; };
#include "grid.glsl"
#include "mask.glsl"
#include "storage.glsl"
layout(set = 0, binding = 0) readonly buffer Weights { Stored weights[]; };
layout(set = 0, binding = 3) readonly buffer Rules { int rules[]; };
layout(set = 0, binding = 4) buffer Edited { Stored edited[]; };

void main() {
    uint row = p.first_row + group_index();
    uint from = p.offset[0] + group_index() * p.keys;
    uint to = p.offset[4] + group_index() * p.keys;
    uint allowed = allowed_keys(row);
    int rule = rules[p.offset[3] + row % (p.heads * p.queries)];
    for (uint key = lane(); key < p.keys; key += lanes()) {
        float weight = widen_one(weights[from + key]);
        if (rule == p.off) {
            weight = 0.0;
        } else if (rule == p.uniform_weight) {
            weight = key < allowed ? 1.0 / float(allowed) : 0.0;
        } else if (rule >= 0) {
            weight = int(key) == rule && key < allowed ? 1.0 : 0.0;
        }
        edited[to + key] = narrow_one(weight);
    }
}
