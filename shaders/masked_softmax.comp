// The softmax over each query's allowed keys, 0 for the rest. One workgroup for a few rows, or one row for
// each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(MaskedSoftmaxParams, MASKED_SOFTMAX_BINDINGS, MASKED_SOFTMAX_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "mask.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_rows) const uint kRows = 1u;  // of a workgroup
layout(constant_id = constant_held) const uint kHeld = 0u;  // vec4s of a row kept: all of an invocation's, or none
layout(constant_id = constant_alone) const bool kAlone = false;  // each invocation has a row to itself, which it keeps
HEADSCOPE_READ_FOURS(binding_scores, scores)
HEADSCOPE_WRITE_FOURS(binding_weights, weights)

// A constant: software devices execute both sides of a branch.
layout(constant_id = constant_has_distances) const bool kHasDistances = false;
layout(set = 0, binding = binding_by_distance) readonly buffer ByDistance { float by_distance[]; };

// Of the row at hand: where its head's column of by_distance begins, and where its query stands.
uint column_by_distance = 0u;
int position = 0;

void begin_row(uint row) {
    if (kHasDistances) {
        column_by_distance = p.offset[binding_by_distance] + row / p.queries % p.heads;
        position = int(row % p.queries) + query_position();
    }
}

vec4 added_by_distance(uint key) {
    int farthest = int(p.farthest);
    ivec4 distances = clamp(ivec4(int(key) - position) + ivec4(0, 1, 2, 3), ivec4(-farthest), ivec4(farthest));
    vec4 added;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        added[i] = by_distance[column_by_distance + uint(distances[i] + farthest) * p.heads];
    }
    return added;
}

// The scores from `key`, -infinity where not allowed.
vec4 allowed_scores(uint from, uint key, Keys allowed) {
    vec4 score = scores_at(from + key, p.keys - key);
    if (kHasDistances) {
        score += added_by_distance(key);
    }
    return mix(vec4(-infinity()), score, are_allowed(key, allowed));
}

vec4 if_allowed(vec4 value, uint key, Keys allowed) { return mix(vec4(0.0), value, are_allowed(key, allowed)); }

float largest(vec4 value) { return max(max(value.x, value.y), max(value.z, value.w)); }

// For scores that are -infinity where not allowed.
vec4 exponentials(vec4 score, float most, uint key, Keys allowed) {
    return if_allowed(precise_exp(score - most), key, allowed);
}

// The first key of a row's i-th vec4 that an invocation keeps.
uint held_key(uint i) { return kAlone ? 4u * i : 4u * (i * lanes() + lane()); }

void hold_row(uint from, uint to, Keys allowed) {
    vec4 held[kHeld + 1u];  // at least one
    float most = -infinity();
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint key = held_key(i);
        held[i] = key < p.keys ? allowed_scores(from, key, allowed) : vec4(-infinity());
        most = max(most, largest(held[i]));
    }
    if (!kAlone) {
        most = group_max(most);
    }
    float total = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        held[i] = exponentials(held[i], most, held_key(i), allowed);
        total += sum_of_four(held[i]);
    }
    if (!kAlone) {
        total = group_sum(total);
    }
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint key = held_key(i);
        if (key < p.keys) {
            weights_put(to + key, p.keys - key, if_allowed(held[i] / total, key, allowed));
        }
    }
}

// In 16 bits an exponential stored before the division would be rounded twice, so it is computed again.
#ifdef HEADSCOPE_16_BITS
const bool kMakesAnew = true;
#else
const bool kMakesAnew = false;
#endif

void walk_row(uint from, uint to, Keys allowed) {
    // At a step of the last loop, so that an invocation reads back only what it wrote itself.
    uint first = allowed.begin / (4u * lanes()) * (4u * lanes());
    uint end = allowed.begin + allowed.count;
    float most = -infinity();
    for (uint key = first + 4u * lane(); key < end; key += 4u * lanes()) {
        most = max(most, largest(allowed_scores(from, key, allowed)));
    }
    most = group_max(most);
    float total = 0.0;
    for (uint key = first + 4u * lane(); key < end; key += 4u * lanes()) {
        vec4 weight = exponentials(allowed_scores(from, key, allowed), most, key, allowed);
        total += sum_of_four(weight);  // before it may replace the scores
        if (!kMakesAnew) {
            weights_put(to + key, p.keys - key, weight);
        }
    }
    total = group_sum(total);
    for (uint key = 4u * lane(); key < p.keys; key += 4u * lanes()) {
        uint count = p.keys - key;
        vec4 weight = vec4(0.0);
        if (first <= key && key < end) {
            weight = kMakesAnew ? exponentials(allowed_scores(from, key, allowed), most, key, allowed)
                                : weights_at(to + key, count);
            weight = if_allowed(weight / total, key, allowed);
        }
        weights_put(to + key, count, weight);
    }
}

void main() {
    if (kAlone) {
        uint row = element_index();
        if (row < p.rows) {
            begin_row(p.first_row + row);
            hold_row(p.offset[binding_scores] + row * p.keys, p.offset[binding_weights] + row * p.keys,
                     allowed_keys(p.first_row + row));
        }
        return;
    }
    uint end = min((group_index() + 1u) * kRows, p.rows);
    for (uint row = group_index() * kRows; row < end; ++row) {
        uint from = p.offset[binding_scores] + row * p.keys;
        uint to = p.offset[binding_weights] + row * p.keys;
        Keys allowed = allowed_keys(p.first_row + row);
        begin_row(p.first_row + row);
        if (kHeld != 0u) {
            hold_row(from, to, allowed);
        } else {
            walk_row(from, to, allowed);
        }
    }
}
