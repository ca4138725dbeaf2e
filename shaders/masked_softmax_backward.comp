// grad_scores = weights (grad_weights - sum of weights grad_weights); one workgroup for a few rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(MaskedSoftmaxBackwardParams, MASKED_SOFTMAX_BACKWARD_BINDINGS, MASKED_SOFTMAX_BACKWARD_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 1u;  // of a workgroup
layout(constant_id = constant_held) const uint kHeld = 0u;  // vec4s of a row kept: all of an invocation's, or none
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_weights, weights)
HEADSCOPE_READ_FOURS(binding_grad_weights, grad_weights)
HEADSCOPE_WRITE_FOURS(binding_grad_scores, grad_scores)

void store(uint index, uint count, vec4 weight, vec4 grad_weight, float dot_product) {
    vec4 grad = weight * (grad_weight - dot_product);
    if (kAccumulates) {
        grad += grad_scores_at(p.offset[binding_grad_scores] + index, count);
    }
    grad_scores_put(p.offset[binding_grad_scores] + index, count, grad);
}

void hold_row(uint start) {
    vec4 weight[kHeld + 1u];  // at least one
    vec4 grad_weight[kHeld + 1u];
    float dot_product = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint key = 4u * (i * lanes() + lane());
        weight[i] = vec4(0.0);
        grad_weight[i] = vec4(0.0);
        if (key < p.keys) {
            weight[i] = weights_at(p.offset[binding_weights] + start + key, p.keys - key);
            grad_weight[i] = grad_weights_at(p.offset[binding_grad_weights] + start + key, p.keys - key);
        }
        dot_product += sum_of_four(weight[i] * grad_weight[i]);
    }
    dot_product = group_sum(dot_product);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint key = 4u * (i * lanes() + lane());
        if (key < p.keys) {
            store(start + key, p.keys - key, weight[i], grad_weight[i], dot_product);
        }
    }
}

void walk_row(uint start) {
    float dot_product = 0.0;
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        dot_product += sum_of_four(weights_at(p.offset[binding_weights] + start + key, count) *
                                   grad_weights_at(p.offset[binding_grad_weights] + start + key, count));
    }
    dot_product = group_sum(dot_product);
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        store(start + key, count, weights_at(p.offset[binding_weights] + start + key, count),
              grad_weights_at(p.offset[binding_grad_weights] + start + key, count), dot_product);
    }
}

void main() {
    uint end = min((group_index() + 1u) * kRows, p.rows);
    for (uint row = group_index() * kRows; row < end; ++row) {
        if (kHeld != 0u) {
            hold_row(row * p.keys);
        } else {
            walk_row(row * p.keys);
        }
    }
}
