// grad_scores = weights (grad_weights - sum of weights grad_weights); one workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { MaskedSoftmaxBackwardParams p; };
#include "grid.glsl"
#include "reduce.glsl"
layout(set = 0, binding = 0) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 1) readonly buffer GradWeights { float grad_weights[]; };
layout(set = 0, binding = 2) buffer GradScores { float grad_scores[]; };

void main() {
    uint start = group_index() * p.keys;
    float dot_product = 0.0;
    for (uint key = lane(); key < p.keys; key += lanes()) {
        dot_product += weights[p.offset[0] + start + key] * grad_weights[p.offset[1] + start + key];
    }
    dot_product = group_sum(dot_product);
    for (uint key = lane(); key < p.keys; key += lanes()) {
        float grad = weights[p.offset[0] + start + key] * (grad_weights[p.offset[1] + start + key] - dot_product);
        uint target = p.offset[2] + start + key;
        grad_scores[target] = p.accumulate != 0u ? grad_scores[target] + grad : grad;
    }
}
