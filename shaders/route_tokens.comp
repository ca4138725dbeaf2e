// probabilities = softmax(logits) of each token, and the experts of its largest logits, of equal ones the lower first.
// One invocation for each token.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(RouteTokensParams, ROUTE_TOKENS_BINDINGS, NO_CONSTANTS)
#include "grid.glsl"
#include "math.glsl"
layout(set = 0, binding = binding_logits) readonly buffer Logits { float logits[]; };
layout(set = 0, binding = binding_probabilities) buffer Probabilities { float probabilities[]; };
layout(set = 0, binding = binding_chosen) buffer Chosen { int chosen[]; };

void main() {
    uint token = element_index();
    if (token >= p.tokens) {
        return;
    }
    uint from = p.offset[binding_logits] + token * p.experts;
    uint to = p.offset[binding_probabilities] + token * p.experts;
    uint choice_to = p.offset[binding_chosen] + token * p.choices;
    float most = logits[from];
    for (uint e = 1u; e < p.experts; ++e) {
        most = logits[from + e] > most ? logits[from + e] : most;
    }
    float sum = 0.0;
    for (uint e = 0u; e < p.experts; ++e) {
        float value = precise_exp(logits[from + e] - most);
        probabilities[to + e] = value;
        sum += value;
    }
    for (uint e = 0u; e < p.experts; ++e) {
        probabilities[to + e] /= sum;
    }
    for (uint j = 0u; j < p.choices; ++j) {
        int best = -1;
        float largest = 0.0;
        for (uint e = 0u; e < p.experts; ++e) {
            bool taken = false;
            for (uint i = 0u; i < j; ++i) {
                taken = taken || chosen[choice_to + i] == int(e);
            }
            if (!taken && (best < 0 || logits[from + e] > largest)) {
                best = int(e);
                largest = logits[from + e];
            }
        }
        chosen[choice_to + j] = best;
    }
}
