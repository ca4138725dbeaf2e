// grad_scores = weights (grad_weights - sum of weights grad_weights); one workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { MaskedSoftmaxBackwardParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
HEADSCOPE_READ_FOURS(0, weights)
HEADSCOPE_READ_FOURS(1, grad_weights)
HEADSCOPE_WRITE_FOURS(2, grad_scores)

void main() {
    uint start = group_index() * p.keys;
    float dot_product = 0.0;
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        dot_product += sum_of_four(weights_at(p.offset[0] + start + key, count) *
                                   grad_weights_at(p.offset[1] + start + key, count));
    }
    dot_product = group_sum(dot_product);
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        vec4 grad = weights_at(p.offset[0] + start + key, count) *
                    (grad_weights_at(p.offset[1] + start + key, count) - dot_product);
        if (p.accumulate != 0u) {
            grad += grad_scores_at(p.offset[2] + start + key, count);
        }
        grad_scores_put(p.offset[2] + start + key, count, grad);
    }
}
