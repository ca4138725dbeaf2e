// scores[b, h, i, j] = the sum over d of gain[h, d] * tanh(q[b, h, i, d] + k[b, h, j, d]); one invocation for each.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(AdditiveScoresParams, ADDITIVE_SCORES_BINDINGS, FOURS_CONSTANTS)
#include "activation.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
HEADSCOPE_READ_FOURS(binding_q, q)
HEADSCOPE_READ_FOURS(binding_k, k)
HEADSCOPE_READ_FLOATS(binding_gain, gain)
layout(set = 0, binding = binding_scores) writeonly buffer Scores { Stored scores[]; };

void main() {
    uint index = element_index();
    if (index >= p.count) {
        return;
    }
    uint row = index / p.keys;
    uint key = index - row * p.keys;
    uint plane = row / p.queries;
    uint batch = plane / p.heads;
    uint head = plane - batch * p.heads;
    uint q_row = p.offset[binding_q] + batch * p.q_strides[0] + head * p.q_strides[1] +
                (row - plane * p.queries) * p.q_strides[2];
    uint k_row = p.offset[binding_k] + batch * p.k_strides[0] + head * p.k_strides[1] + key * p.k_strides[2];
    uint gain_row = p.offset[binding_gain] + head * p.depth;
    vec4 sum = vec4(0.0);
    for (uint column = 0u; column < p.depth; column += 4u) {
        uint count = p.depth - column;
        sum += gain_at(gain_row + column, count) * squash(q_at(q_row + column, count) + k_at(k_row + column, count));
    }
    scores[p.offset[binding_scores] + index] = narrow_one(sum_of_four(sum));
}
