// The softmax over each query's allowed keys, which are always the first few: 0 for the rest. One workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { MaskedSoftmaxParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "mask.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
HEADSCOPE_READ_FOURS(0, scores)
HEADSCOPE_WRITE_FOURS(3, weights)

void main() {
    uint from = p.offset[0] + group_index() * p.keys;
    uint to = p.offset[3] + group_index() * p.keys;
    uint allowed = allowed_keys(p.first_row + group_index());
    float most = -infinity();
    for (uint key = 4u * lane(); key < allowed; key += 4u * lanes()) {
        vec4 score = scores_at(from + key, p.keys - key);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            most = key + i < allowed ? max(most, score[i]) : most;
        }
    }
    most = group_max(most);
    float total = 0.0;
    for (uint key = 4u * lane(); key < allowed; key += 4u * lanes()) {
        vec4 weight = precise_exp(scores_at(from + key, p.keys - key) - most);
        weight = first_of_four(weight, allowed - key);
        weights_put(to + key, p.keys - key, weight);
        total += sum_of_four(weight);
    }
    total = group_sum(total);
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        vec4 weight = key < allowed ? first_of_four(weights_at(to + key, count) / total, allowed - key) : vec4(0.0);
        weights_put(to + key, count, weight);
    }
}
