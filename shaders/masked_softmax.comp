// The softmax over each query's allowed keys, which are always the first few: 0 for the rest. One workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { MaskedSoftmaxParams p; };
#include "grid.glsl"
#include "mask.glsl"
#include "math.glsl"
#include "reduce.glsl"
layout(set = 0, binding = 0) readonly buffer Scores { float scores[]; };
layout(set = 0, binding = 3) buffer Weights { float weights[]; };

void main() {
    uint from = p.offset[0] + group_index() * p.keys;
    uint to = p.offset[3] + group_index() * p.keys;
    uint allowed = allowed_keys(p.first_row + group_index());
    float most = -infinity();
    for (uint key = lane(); key < allowed; key += lanes()) {
        most = max(most, scores[from + key]);
    }
    most = group_max(most);
    float total = 0.0;
    for (uint key = lane(); key < allowed; key += lanes()) {
        float weight = precise_exp(scores[from + key] - most);
        weights[to + key] = weight;
        total += weight;
    }
    total = group_sum(total);
    for (uint key = lane(); key < p.keys; key += lanes()) {
        weights[to + key] = key < allowed ? weights[to + key] / total : 0.0;
    }
}
