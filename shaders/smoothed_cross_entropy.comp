// loss = -sum q log p, nll = -log p[target], grad = grad_scale (p - q), each times the weight of the row; a target of -1
// is a pad. One workgroup for each row. With l = logits - max and z = log sum exp l:  -log p[c] = z - l[c].
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SmoothedCrossEntropyParams, SMOOTHED_CROSS_ENTROPY_BINDINGS, SMOOTHED_CROSS_ENTROPY_CONSTANTS)
#define HEADSCOPE_MOST_LANES 512  // as in backends/vulkan/ops/loss.cpp
#include "fours.glsl"
#include "grid.glsl"
#include "math.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = constant_held) const uint kHeld = 0u;  // vec4s of a row kept: all of an invocation's, or none
HEADSCOPE_READ_FOURS(binding_logits, logits)
layout(set = 0, binding = binding_targets) readonly buffer Targets { int targets[]; };
layout(set = 0, binding = binding_loss) writeonly buffer Loss { float loss[]; };
layout(set = 0, binding = binding_nll) writeonly buffer Nll { float nll[]; };
HEADSCOPE_WRITE_FOURS(binding_grad_logits, grad_logits)
layout(set = 0, binding = binding_grad_scale) readonly buffer GradScale { float grad_scale[]; };
layout(set = 0, binding = binding_prior) readonly buffer Prior { float prior[]; };
layout(set = 0, binding = binding_weights) readonly buffer Weights { float weights[]; };

void write_row(float row_loss, float row_nll) {
    if (lane() == 0u) {
        loss[p.offset[binding_loss] + group_index()] = row_loss;
        nll[p.offset[binding_nll] + group_index()] = row_nll;
    }
}

// How four classes share what smoothing moves, relative to an even share or, with a prior, to all of it.
vec4 shares_at(uint c) {
    vec4 shares = vec4(1.0);
    if (p.has_prior != 0u) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            shares[i] = prior[p.offset[binding_prior] + min(c + i, p.classes - 1u)];
        }
    }
    return shares;
}

bvec4 are_target(uint c, int target) { return equal(uvec4(c) + uvec4(0u, 1u, 2u, 3u), uvec4(target)); }

struct Row {
    uint logits_at;
    uint grad_at;
    int target;
};

// Of an invocation's classes, then of the row's.
struct Sums {
    float exponentials;
    float below;     // of max - logits by share, each term >= 0
    float target_l;  // from the invocation with the target: grad_logits may overwrite it
};

void add_four(inout Sums sums, Row row, uint c, vec4 l, vec4 exponentials) {
    uint count = p.classes - c;
    sums.exponentials += sum_of_four(of_row(exponentials, count));
    vec4 shares = shares_at(c);
    sums.below -= sum_of_four(of_row(mix(shares * l, vec4(0.0), equal(shares, vec4(0.0))), count));
    sums.target_l += sum_of_four(mix(vec4(0.0), l, are_target(c, row.target)));
}

// What the gradient of each class is made of.
struct Gradient {
    float exponentials;  // of the row
    float others;        // wanted of a class beside the target
    float on_target;
    float surplus;  // of the target, with a prior
    float scale;
    bool exists;
};

// Writes the losses of a row with an invocation's sums.
Gradient finish(Row row, Sums sums) {
    sums = Sums(group_sum(sums.exponentials), group_sum(sums.below), group_sum(sums.target_l));
    float z = precise_log(sums.exponentials);
    // A target out of range must show: NaN, never an out-of-bounds read.
    bool exists = row.target >= 0 && row.target < int(p.classes);
    float row_nll = exists ? z - sums.target_l : not_a_number();
    float sharing = p.has_prior != 0u ? 1.0 : float(p.classes);  // the sum of the shares
    float others = p.other_classes != 0u ? p.epsilon / float(max(p.classes, 2u) - 1u) : p.epsilon / sharing;
    float on_target = p.other_classes != 0u ? 1.0 - p.epsilon : 1.0 - p.epsilon + others;
    float surplus = p.has_prior != 0u ? 1.0 - p.epsilon : on_target - others;  // of the target
    float row_loss = p.epsilon == 0.0 ? row_nll : surplus * row_nll + others * (sharing * z + sums.below);
    float weight = p.has_weights != 0u ? weights[p.offset[binding_weights] + group_index()] : 1.0;
    write_row(weight * row_loss, weight * row_nll);
    float scale = weight * (p.has_grad_scale != 0u ? grad_scale[p.offset[binding_grad_scale]] : 1.0);
    return Gradient(sums.exponentials, others, on_target, surplus, scale, exists);
}

void put_gradient(Gradient gradient, Row row, uint c, vec4 exponentials) {
    vec4 wanted = gradient.others * shares_at(c);
    vec4 if_target = p.has_prior != 0u ? wanted + gradient.surplus : vec4(gradient.on_target);
    wanted = mix(wanted, if_target, are_target(c, row.target));
    vec4 value = gradient.scale * (exponentials / gradient.exponentials - wanted);
    grad_logits_put(row.grad_at + c, p.classes - c, gradient.exists ? value : vec4(not_a_number()));
}

uint held_class(uint i) { return 4u * (i * lanes() + lane()); }

void hold_row(Row row) {
    vec4 held[kHeld + 1u];  // at least one: logits, then exponentials
    float most = -infinity();
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint c = held_class(i);
        held[i] = c < p.classes ? logits_at(row.logits_at + c, p.classes - c) : vec4(-infinity());
        most = max(most, max(max(held[i].x, held[i].y), max(held[i].z, held[i].w)));
    }
    most = group_max(most);
    Sums sums = Sums(0.0, 0.0, 0.0);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint c = held_class(i);
        if (c < p.classes) {
            vec4 l = held[i] - most;
            held[i] = precise_exp(l);
            add_four(sums, row, c, l, held[i]);
        }
    }
    Gradient gradient = finish(row, sums);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint c = held_class(i);
        if (p.has_grad != 0u && c < p.classes) {
            put_gradient(gradient, row, c, held[i]);
        }
    }
}

void walk_row(Row row) {
    float most = -infinity();
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        vec4 value = logits_at(row.logits_at + c, p.classes - c);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            most = kFours || c + i < p.classes ? max(most, value[i]) : most;
        }
    }
    most = group_max(most);
    Sums sums = Sums(0.0, 0.0, 0.0);
    for (uint c = 4u * lane(); c < p.classes; c += 4u * lanes()) {
        vec4 l = logits_at(row.logits_at + c, p.classes - c) - most;
        add_four(sums, row, c, l, precise_exp(l));
    }
    Gradient gradient = finish(row, sums);
    for (uint c = 4u * lane(); p.has_grad != 0u && c < p.classes; c += 4u * lanes()) {
        put_gradient(gradient, row, c, precise_exp(logits_at(row.logits_at + c, p.classes - c) - most));
    }
}

void main() {
    Row row;
    row.logits_at = p.offset[binding_logits] + group_index() * p.classes;
    row.grad_at = p.offset[binding_grad_logits] + group_index() * p.classes;
    row.target = targets[p.offset[binding_targets] + group_index()];
    if (row.target == -1) {
        write_row(0.0, 0.0);
        for (uint c = 4u * lane(); p.has_grad != 0u && c < p.classes; c += 4u * lanes()) {
            grad_logits_put(row.grad_at + c, p.classes - c, vec4(0.0));
        }
    } else if (kHeld != 0u) {
        hold_row(row);
    } else {
        walk_row(row);
    }
}
