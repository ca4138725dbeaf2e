// grad_logits[e] = p[e] (g[e] - sum p g), with g the gradient of p: of the weights p / (sum of the chosen p), and of the
// sums over tokens. One invocation for each token.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(RouteTokensBackwardParams, ROUTE_TOKENS_BACKWARD_BINDINGS, ROUTE_TOKENS_BACKWARD_CONSTANTS)
#include "grid.glsl"
#include "tokens.glsl"
layout(constant_id = constant_has_sums) const bool kHasSums = false;
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
layout(set = 0, binding = binding_probabilities) readonly buffer Probabilities { float probabilities[]; };
layout(set = 0, binding = binding_chosen) readonly buffer Chosen { int chosen[]; };
layout(set = 0, binding = binding_slots) readonly buffer Slots { int slots[]; };
layout(set = 0, binding = binding_grad_weights) readonly buffer GradWeights { float grad_weights[]; };
layout(set = 0, binding = binding_grad_sums) readonly buffer GradSums { float grad_sums[]; };
layout(set = 0, binding = binding_grad_logits) buffer GradLogits { float grad_logits[]; };

uint expert_of(uint token, uint choice) { return uint(chosen[p.offset[binding_chosen] + token * p.choices + choice]); }

float grad_of_choice(uint token, uint choice) {
    int slot = slots[p.offset[binding_slots] + token * p.choices + choice];
    return slot < 0 ? 0.0 : grad_weights[p.offset[binding_grad_weights] + uint(slot)];
}

float grad_of(uint token, uint expert, float whole, float mean) {
    float grad = kHasSums ? grad_sums[p.offset[binding_grad_sums] + expert] : 0.0;
    for (uint j = 0u; j < p.choices; ++j) {
        if (expert_of(token, j) == expert) {
            grad += (grad_of_choice(token, j) - mean) / whole;
        }
    }
    return grad;
}

void main() {
    uint token = element_index();
    if (token >= p.tokens) {
        return;
    }
    uint at = p.offset[binding_probabilities] + token * p.experts;
    float whole = 1.0;
    float mean = 0.0;
    if (p.choices > 1u) {
        whole = 0.0;
        for (uint j = 0u; j < p.choices; ++j) {
            float probability = probabilities[at + expert_of(token, j)];
            whole += probability;
            mean += probability * grad_of_choice(token, j);
        }
        mean /= whole;
    }
    // sum p g: of weights that share a sum it is 0.
    float along = p.choices == 1u ? probabilities[at + expert_of(token, 0u)] * grad_of_choice(token, 0u) : 0.0;
    for (uint e = 0u; e < p.experts && kHasSums; ++e) {
        along += probabilities[at + e] * grad_sums[p.offset[binding_grad_sums] + e];
    }
    bool counts = is_token(token);
    for (uint e = 0u; e < p.experts; ++e) {
        uint to = p.offset[binding_grad_logits] + token * p.experts + e;
        float grad = counts ? probabilities[at + e] * (grad_of(token, e, whole, mean) - along) : 0.0;
        grad_logits[to] = kAccumulates ? grad_logits[to] + grad : grad;
    }
}
